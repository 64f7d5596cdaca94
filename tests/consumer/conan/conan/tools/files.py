import fnmatch
import os
import shutil


def copy(conanfile, pattern, src, dst):
    """Files whose path below `src` matches, to the same path below `dst`."""
    copied = []
    for folder, _, names in os.walk(src):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), src)
            if fnmatch.fnmatch(path, pattern):
                target = os.path.join(dst, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                copied.append(shutil.copy2(os.path.join(src, path), target))
    return copied
