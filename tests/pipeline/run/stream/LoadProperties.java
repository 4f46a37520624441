// Prints what Java reads from properties files: for each file a line of names and values, by their
// UTF-16 units in hexadecimal, or "refused".

import java.io.FileInputStream;
import java.io.IOException;
import java.util.Properties;
import java.util.stream.Collectors;

class LoadProperties {
    public static void main(String[] paths) throws IOException {
        for (String path : paths) {
            Properties read = new Properties();
            try (FileInputStream file = new FileInputStream(path)) {
                read.load(file);
            } catch (IllegalArgumentException wrongEscape) {
                System.out.println("refused");
                continue;
            }
            System.out.println(
                read.stringPropertyNames().stream()
                    .map(name -> units(name) + "=" + units(read.getProperty(name)))
                    .collect(Collectors.joining(",")));
        }
    }

    private static String units(String text) {
        return text.chars().mapToObj(unit -> String.format("%04x", unit)).collect(Collectors.joining());
    }
}
