/** URLs of files, and the paths that people write for them. */

/** From the folder `root`, whose URL has no slash at its end; null: the file lies elsewhere, or its URL is none. */
export function pathBelow(root: string, url: string): string | null {
  return url.startsWith(`${root}/`) ? decoded(url.slice(root.length + 1)) : null
}

/** The path from `root`; of a file elsewhere its tail. */
export function pathOrTail(url: string, root: string | undefined): string {
  const path = root === undefined ? null : pathBelow(root, url)
  return path ?? decoded(tailOf(url)) ?? tailOf(url)
}

/** The path from `root`, as people write it; the URL of what lies elsewhere, or has a name of more than one line. */
export function shownPath(url: string, root: string | undefined): string {
  const path = root === undefined ? null : pathBelow(root, url)
  return path === null || /\p{Cc}/u.test(path) ? url : path
}

/** The last three parts: they say more of a file than where its folder lies. */
export function tailOf(url: string): string {
  return url.split('/').slice(-3).join('/')
}

/** Whether it is the folder, or lies below it. */
export function isBelow(url: string, folder: string): boolean {
  const bare = folder.endsWith('/') ? folder.slice(0, -1) : folder
  return url === bare || url.startsWith(`${bare}/`)
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
