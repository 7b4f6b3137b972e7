/** Paths of a workspace: relative to its root, with forward slashes, without `.` and `..`; the root is ''. */

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '' : path.slice(0, slash)
}

/** Null: leads out of the workspace. */
export function join(folder: string, relative: string): string | null {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of relative.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return parts.join('/')
}

/** The folder of the file and those above it, nearest first, the root last. */
export function* foldersAbove(path: string): Iterable<string> {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    yield folder
    if (folder === '') return
  }
}

export function inFolder(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}
