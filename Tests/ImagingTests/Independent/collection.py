#!/usr/bin/env python3
"""Real pictures from Debian packages and PyPI source distributions, rendered by two versions of img.

    collection.py collect FOLDER          downloads the packages, and keeps their pictures
    collection.py compare FOLDER OLD NEW  renders each with both, and lists what differs

OLD and NEW are executables of img with img-decode beside them. Whatever differs is printed as
"DIFFERS picture: rendition, old, new"; give the reason for each, or mend it. The pictures are never committed.
"""
import concurrent.futures, hashlib, os, pathlib, subprocess, sys, tarfile, tempfile, zipfile

PACKAGES = """
    tuxpaint-stamps-default gnome-backgrounds mate-backgrounds libsixel-examples python-matplotlib-data
    gimp-help-en imagemagick-6-doc python-skimage-doc opencv-doc libvigraimpex-doc gnome-user-docs
    gcompris-qt-data freeciv-data lincity-ng-data pidgin-data debian-handbook marble-data oxygen-icon-theme
    kphotoalbum hugin-data octave-doc desktop-base icewm-common
""".split()
DISTRIBUTIONS = """
    pillow==11.3.0 filetype==1.2.0 puremagic==1.30 willow imageio imagesize exifread piexif fpdf2 img2pdf xlsxwriter
    python-docx python-pptx pypdf ocrmypdf imagehash sphinx docutils pygal plotnine seaborn mplfinance thumbor
    easy-thumbnails django-imagekit arcade wand pypng numpngw apng reportlab nicegui hachoir qrcode pyqtgraph
    scikit-image matplotlib pillow-heif pillow-avif-plugin
""".split()
SUFFIXES = {".png", ".apng", ".jpg", ".jpeg", ".jfif", ".jpe", ".gif", ".webp", ".heic", ".heif", ".hif", ".avif"}
MOST_OF_ONE = 400  # pictures of a package: icon themes have thousands of one kind
MOST_BYTES = 30_000_000
RENDITIONS = {
    "original": [], "thumb": ["--profile", "thumb"], "ios": ["--profile", "ios"],
    "android": ["--profile", "android"],
}


def collect(folder):
    folder.mkdir(parents=True, exist_ok=True)
    seen = {path.name.split("-")[0] for path in folder.iterdir()}
    for command, names in (
        (["apt-get", "download"], PACKAGES),
        ([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
          "--no-binary", ":all:"], DISTRIBUTIONS),
    ):
        for name in names:
            with tempfile.TemporaryDirectory() as place:
                try:
                    subprocess.run(command + [name], cwd=place, capture_output=True, timeout=300)
                except subprocess.TimeoutExpired:
                    pass
                files = list(pathlib.Path(place).iterdir())
                count = sum(keep(folder, seen, file) for file in files)
                print(f"{name}: {count} pictures" if files else f"{name}: not to be had", flush=True)


def keep(folder, seen, archive):
    """Copies the pictures of an archive that are not there yet, evenly chosen if there are very many."""
    found = [(name, data) for name, data in members(archive) if 0 < len(data) <= MOST_BYTES]
    step = max(1, -(-len(found) // MOST_OF_ONE))
    count = 0
    for name, data in found[::step]:
        digest = hashlib.sha256(data).hexdigest()[:16]
        if digest not in seen:
            seen.add(digest)
            (folder / f"{digest}-{archive.name.split('_')[0]}-{pathlib.PurePath(name).name[-60:]}").write_bytes(data)
            count += 1
    return count


def members(archive):
    def is_picture(name):
        return pathlib.PurePath(name).suffix.lower() in SUFFIXES
    if archive.suffix in (".zip", ".whl"):
        with zipfile.ZipFile(archive) as file:
            for entry in file.infolist():
                if is_picture(entry.filename):
                    yield entry.filename, file.read(entry)
        return
    if archive.suffix == ".deb":
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as process:
            yield from tar_members(tarfile.open(fileobj=process.stdout, mode="r|"), is_picture)
    else:
        yield from tar_members(tarfile.open(archive, mode="r|*"), is_picture)


def tar_members(tar, is_picture):
    with tar:
        for entry in tar:
            if entry.isfile() and is_picture(entry.name):
                yield entry.name, tar.extractfile(entry).read()


def rendered(program, picture, options):
    """The bytes of a rendition, or the sentence that refuses it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        out = pathlib.Path(folder) / "out"
        try:
            result = subprocess.run(
                [program, "render", picture, out, *options], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return "still rendering after 60 s"
        return out.read_bytes() if result.returncode == 0 else f"exit {result.returncode}: {result.stderr.strip()}"


def described(outcome):
    return outcome if isinstance(outcome, str) else f"{len(outcome)} bytes"


def differences(picture, old, new):
    found = []
    for name, options in RENDITIONS.items():
        before, after = (rendered(program, picture, options) for program in (old, new))
        if before != after:
            found.append(f"DIFFERS {picture.name}: {name}, {described(before)}, {described(after)}")
    return found


def compare(folder, old, new):
    pictures = sorted(folder.iterdir())
    kinds, count = {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for index, found in enumerate(pool.map(lambda picture: differences(picture, old, new), pictures)):
            suffix = pictures[index].suffix.lower()
            kinds[suffix] = kinds.get(suffix, 0) + 1
            count += bool(found)
            print(*found, sep="\n", end="\n" if found else "", flush=True)
    print(f"{len(pictures)} pictures ({', '.join(f'{n} {k}' for k, n in sorted(kinds.items()))}), {count} differ")


if __name__ == "__main__":
    what, folder, *programs = sys.argv[1:]
    if what == "collect":
        collect(pathlib.Path(folder))
    else:
        compare(pathlib.Path(folder), *map(os.path.abspath, programs))
