/** What the system says of a file, in words. */

const CODES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it vanished before it could be read',
  ENOTDIR: 'it vanished before it could be read',
  EIO: 'the disk failed to read it',
  EMFILE: 'too many files are open',
  EISDIR: 'it became a folder before it could be read',
  ENAMETOOLONG: 'the path is too long',
}

export function messageOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? ''
  if (Object.hasOwn(CODES, code)) return CODES[code] as string
  return error instanceof Error ? error.message : String(error)
}
