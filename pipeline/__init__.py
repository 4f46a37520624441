"""One run of Good Gain and what people do with it: evaluate, study, convert, show."""
