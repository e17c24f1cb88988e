"""The pictures of the benches, made once in .build/bench of what Debian's wallpaper packages hold.

The packages are fetched with apt-get and unpacked, not installed. Sizes and qualities are those of a camera (12 and
24 megapixels, quality 90) and of the web (2 megapixels, quality 85); "dense" is a painting's scan full of
detail, "smooth" a soft gradient: a decoder's worst and best case. HEICS are the same, coded again. REAL are files as they are, by other people's programs.
"""
import glob, os, subprocess

import pyvips

FOLDER = os.path.abspath(".build/bench")
PACKAGES = "mate-backgrounds", "plasma-workspace-wallpapers", "lomiri-wallpapers-16.04"
MATE, PLASMA, LOMIRI = "x/usr/share/backgrounds/mate/", "x/usr/share/wallpapers/", "x/usr/share/backgrounds/"
DENSE = MATE + "abstract/Elephants_5640x3172.jpg"
SMOOTH = PLASMA + "Volna/contents/images/5120x2880.jpg"
DROPS = MATE + "nature/RainDrops.jpg"
DRAWN = PLASMA + "Kay/contents/images/5120x2880.png"


def shell(command):
    subprocess.run(command, shell=True, check=True, cwd=FOLDER, stderr=subprocess.DEVNULL)


def packages():
    os.makedirs(FOLDER, exist_ok=True)
    for package in PACKAGES:
        if not glob.glob(f"{FOLDER}/{package}_*.deb"):
            shell(f"apt-get -q download {package} >/dev/null && dpkg -x {package}_*.deb x")


def cut(source, width, height):
    """The middle of a picture, at a size."""
    return pyvips.Image.thumbnail(f"{FOLDER}/{source}", width, height=height, crop="centre", size="both")


def jpeg(source, width, height, quality):
    """Coded by cjpeg, 4:2:0 and baseline."""
    def make(target):
        image = cut(source, width, height)
        header = f"P6 {image.width} {image.height} 255\n".encode()
        with open(target, "wb") as out:
            subprocess.run(["cjpeg", "-q", str(quality)], input=header + image.write_to_memory(), stdout=out, check=True)
    return make


def progressive(name):
    return lambda target: shell(f"jpegtran -progressive {name} > {target}")


def heic(name, quality):
    """Coded by x265, 4:2:0 of 8 bits."""
    return lambda target: shell(f"heif-enc -p x265:preset=fast -q {quality} {name} -o {target}")


def png(source, width, height):
    return lambda target: cut(source, width, height).pngsave(target, compression=6, filter="all")


def as_it_is(source):
    return lambda target: os.link(f"{FOLDER}/{source}", target)


JPEGS = {
    "drops-2.jpg": jpeg(DROPS, 1600, 1200, 85),
    "dense-12.jpg": jpeg(DENSE, 4032, 3024, 90),
    "smooth-12.jpg": jpeg(SMOOTH, 4032, 3024, 90),
    "dense-24.jpg": jpeg(DENSE, 6000, 4000, 90),
    "dense-12-progressive.jpg": progressive("dense-12.jpg"),
    "smooth-12-progressive.jpg": progressive("smooth-12.jpg"),
}
PNGS = {
    "drops-2.png": png(DROPS, 1600, 1200),
    "dense-12.png": png(DENSE, 4032, 3024),
    "drawn-15.png": as_it_is(DRAWN),
}
HEICS = {
    "dense-12.heic": heic("dense-12.jpg", 50),
    "smooth-12.heic": heic("smooth-12.jpg", 50),
}
REAL = {
    "wood-5-422.jpg": as_it_is(MATE + "nature/Wood.jpg"),
    "free-6-444.jpg": as_it_is(LOMIRI + "free_by_Peter_Nerlich.jpg"),
    "friends-6-portrait-progressive.jpg": as_it_is(LOMIRI + "friends_by_Aitzol_Berasategi.jpg"),
}


def pictures(kinds):
    """The paths of some of the pictures, made when they are missing."""
    packages()
    for name, make in kinds.items():
        if not os.path.exists(f"{FOLDER}/{name}"):
            make(f"{FOLDER}/{name}.new")
            os.rename(f"{FOLDER}/{name}.new", f"{FOLDER}/{name}")
    return [f"{FOLDER}/{name}" for name in kinds]
