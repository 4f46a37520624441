"""Treats characters that are newer than Unicode 14 as Unicode 14 does: as if nothing were known.

A private-use character has the same properties as one that is not assigned, in every version.
"""

import unicodedata

PRIVATE_USE = range(0x100000, 0x10FFFE)
# Assigned in Unicode 15 to 18 (the first two are those of Python 3.12 and 3.13).
ADDED = """
558 58B-58C 5C8-5C9 88F 897 B53-B54 C5C CDC CF3 ECE 1ACF-1AF0 1B4E-1B4F 1B7F 1C89-1C8A 208F
209D-209F 20C1-20C4 2427-2429 2B96 2E60-2E63 2FFC-2FFF 31E4-31E5 31EF A7CB-A7CF A7D2 A7D4
A7DA-A7DD A7E2 A7F1 AB6C-AB6D FBC3-FBD2 FD90-FD91 FDC8-FDCE 105C0-105F3 107BB-107BF 10940-10959
10D40-10D65 10D69-10D85 10D8E-10D8F 10EC2-10EC7 10EC9-10EEE 10EF0-10EFF 1123F-11241 11380-11389
1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA 113CC-113D5 113D7-113D8 113E1-113E2
116D0-116E3 11B00-11B0A 11B60-11B67 11BC0-11BE1 11BF0-11BF9 11DB0-11DDB 11DE0-11DE9 11DF0-11DF1
11F00-11F10 11F12-11F3A 11F3E-11F5A 1246F 12475-1247F 12550-12686 1342F 13439-13455 13460-143FA
16100-16139 16D40-16D79 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6 187F8-187FF 18CD6-18CDA 18CFF
18D09-18D20 18D80-18DF2 18E00-19191 191A0-191D2 1B123-1B128 1B132 1B155 1B168 1CC00-1CCFC
1CD00-1CEB3 1CEBA-1CED0 1CED2-1CED4 1CEDD-1CEFD 1D127-1D128 1D1EB-1D1FF 1D250-1D281 1D2C0-1D2D3
1D6A6 1DB00-1DB1C 1DF1F-1DF81 1DF90-1DF96 1DFCD-1DFFF 1E030-1E06D 1E08F 1E4D0-1E4F9 1E5D0-1E5FA
1E5FF 1E6C0-1E6DE 1E6E0-1E6F5 1E6FE-1E6FF 1F1AE 1F6D8-1F6D9 1F6DC 1F774-1F77F 1F7D9-1F7DB
1F7F1-1F7FF 1F8B2-1F8BB 1F8C0-1F8C1 1F8D0-1F8D8 1FA54-1FA57 1FA75-1FA77 1FA87-1FA8F 1FAAD-1FAAF
1FABB-1FABF 1FAC6 1FAC8 1FACC-1FACF 1FADA-1FADD 1FADF 1FAE8-1FAEB 1FAEF 1FAF7-1FAFA 1FBCB-1FBEF
1FBFA 2B739-2B73F 2B81E 2CEA2-2CEAD 2EBF0-2EE5D 31350-33479 3D000-3FC3F
"""
NEWER = {
    chr(code)
    for span in ADDED.split()
    for bounds in [[int(bound, 16) for bound in span.split("-")]]
    for code in range(bounds[0], bounds[-1] + 1)
}


def change_known(change, text):
    """`change(text)`, where newer characters stay as they are."""
    if text.isascii():
        return change(text)
    newer = sorted(
        {
            character
            for character in text
            if character in NEWER or unicodedata.category(character) == "Cn"
        }
    )
    free = (chr(code) for code in PRIVATE_USE if chr(code) not in text)
    stand_ins = dict(zip(newer, free, strict=False))
    back = str.maketrans({stand_in: character for character, stand_in in stand_ins.items()})
    return change(text.translate(str.maketrans(stand_ins))).translate(back)


def casefold(text):
    return change_known(str.casefold, text)


def lower(text):
    return change_known(str.lower, text)


def nfkc(text):
    return change_known(lambda known: unicodedata.normalize("NFKC", known), text)
