/** Resolves a path that a request gives, and shows paths below it in the form that the request used. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import { invalidArgument, QuerentError } from '../model/errors.ts'

/** A path that a request gives, in resolved form. */
export interface Place {
  /** The path as the request gives it. */
  readonly given: string
  /** The absolute path, with symbolic links resolved. */
  readonly absolute: string
  readonly isFolder: boolean
  /** The folder itself if the path is a folder; otherwise the folder that contains the file. */
  readonly root: string
}

const EXISTING = 'the path of an existing file or folder'

/**
 * Resolves the path that a request gives. Throws if there is nothing at the path or it may not be opened. `field`: name of the request's
 * field, for the error.
 */
export async function placeOf(given: string, field: string): Promise<Place> {
  try {
    const absolute = await realpath(resolve(given))
    const isFolder = (await stat(absolute)).isDirectory()
    if (!absolute.isWellFormed()) throw invalidArgument(field, given, 'a path in well-formed Unicode')
    return { given, absolute, isFolder, root: isFolder ? absolute : dirname(absolute) }
  } catch (error) {
    if (error instanceof QuerentError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_INVALID_ARG_VALUE') {
      throw invalidArgument(field, given, EXISTING)
    }
    throw new QuerentError('io_failed', `${given}: ${messageOf(error)}`, { path: given, cause: code ?? '' }, error)
  }
}

/**
 * The resolved path of a file that was deleted, needed so that its entries are deleted too. `path`: absolute, with symbolic links resolved.
 */
export function goneFile(path: string): Place {
  return { given: path, absolute: path, isFolder: false, root: dirname(path) }
}

/** Shows an absolute path as a path that begins as the requester wrote it. */
export function shown(place: Place, absolute: string): string {
  const below = relative(place.absolute, absolute).split(sep).join('/')
  return below === '' ? place.given : `${place.given.replace(/[\\/]+$/, '')}/${below}`
}

const CODES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it disappeared before it could be read',
  ENOTDIR: 'it disappeared before it could be read',
  EIO: 'the disk failed to read it',
  EMFILE: 'too many files are open',
  EISDIR: 'it became a folder before it could be read',
  ENAMETOOLONG: 'the path is too long',
}

/** Message in plain words for an error of the operating system about a file. */
export function messageOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? ''
  if (Object.hasOwn(CODES, code)) return CODES[code] as string
  return error instanceof Error ? error.message : String(error)
}
