#!/usr/bin/python3
"""Draws clothes from the emoji font of Debian's package fonts-noto-color-emoji as images for plugin judge.

usage: emoji_clothes.py FOLDER

Writes FOLDER/test/CLASS/NAME.png for classes of Fashion-MNIST (the font has no pullover). They are drawings and no photographs, but from
another source than Fashion-MNIST: ORCH_WILD=$PWD/FOLDER orch run recipes/lab5.recipe wild wild2. Needs python3-pil."""
import pathlib
import sys

from PIL import Image, ImageChops, ImageDraw, ImageFont

FONT, SIZE = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf", 109  # the only size of its bitmaps
CLASSES = {"t-shirt_top": "\N{T-SHIRT}\N{RUNNING SHIRT WITH SASH}", "trouser": "\N{JEANS}", "dress": "\N{DRESS}",
           "coat": "\N{COAT}\N{LAB COAT}", "sandal": "\N{WOMANS SANDAL}\N{THONG SANDAL}", "shirt": "\N{NECKTIE}\N{WOMANS CLOTHES}",
           "sneaker": "\N{ATHLETIC SHOE}", "bag": "\N{HANDBAG}\N{POUCH}\N{SCHOOL SATCHEL}\N{BRIEFCASE}",
           "ankle_boot": "\N{WOMANS BOOTS}\N{HIKING BOOT}"}


def picture(font, letter):
    """The drawing on a white square whose side is the drawing's longer one."""
    canvas = Image.new("RGB", (2 * SIZE, 2 * SIZE), "white")
    ImageDraw.Draw(canvas).text((SIZE // 4, SIZE // 4), letter, font=font, embedded_color=True)
    box = ImageChops.difference(canvas, Image.new("RGB", canvas.size, "white")).getbbox()
    drawing = canvas.crop(box)
    side = max(drawing.size)
    square = Image.new("RGB", (side, side), "white")
    square.paste(drawing, ((side - drawing.width) // 2, (side - drawing.height) // 2))
    return square


def main(folder):
    font = ImageFont.truetype(FONT, SIZE)
    for name, letters in CLASSES.items():
        place = pathlib.Path(folder) / "test" / name
        place.mkdir(parents=True, exist_ok=True)
        for letter in letters:
            picture(font, letter).save(place / f"{ord(letter):x}.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
