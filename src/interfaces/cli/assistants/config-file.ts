/** Configuration files of other programs: read whole, copied aside, and replaced in one step or not at all. */
import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { QuerentError } from '../../../model/errors.ts'
import { decodeUtf8 } from '../io.ts'

export interface ConfigFile {
  /** Behind symbolic links. */
  readonly path: string
  /** null: there is none. */
  readonly text: string | null
}

/** Of a new file: for this user alone, as keys may be written into it later. */
const NEW_FILE_MODE = 0o600

/** Throws `denied` for a file outside these folders, also through a symbolic link; `io_failed`. */
export async function readConfig(file: string, allowed: readonly string[]): Promise<ConfigFile> {
  const path = await realPlace(file)
  const folders = await Promise.all(allowed.map(realPlace))
  if (!folders.some(folder => isBelow(path, folder))) {
    throw new QuerentError('denied', `${file}: lies outside your home and this project; nothing was written`, { file })
  }
  const bytes = await orAbsent(readFile(path), path)
  // With its byte order mark, if it has one.
  return { path, text: bytes === null ? null : decodeUtf8(bytes, path, true) }
}

/** Resolves to the backup's path, null where there was nothing to copy. Throws `io_failed`, `conflict` if it changed meanwhile. */
export async function replaceConfig({ path, text }: ConfigFile, after: string): Promise<string | null> {
  const beside = join(dirname(path), `.${basename(path)}.querent-${process.pid}`)
  try {
    await mkdir(dirname(path), { recursive: true })
    const backup = text === null ? null : await copyAside(path)
    const mode = text === null ? NEW_FILE_MODE : (await stat(path)).mode & 0o777
    await writeFile(beside, after, { flag: 'wx', mode, flush: true })
    await chmod(beside, mode)
    if ((await orAbsent(readFile(path, 'utf8'), path)) !== text) {
      throw new QuerentError('conflict', `${path}: another program changed it meanwhile; nothing was written`, { path })
    }
    await rename(beside, path)
    return backup
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {})
    throw error instanceof QuerentError ? error : failed(path, (error as Error).message, error)
  }
}

/** Throws `io_failed` for a file that is marked as not to be written: a rename would replace it all the same. */
export async function assertWritable({ path, text }: ConfigFile): Promise<void> {
  if (text !== null && ((await stat(path)).mode & 0o200) === 0) throw failed(path, 'is read-only; nothing was written')
}

async function copyAside(path: string, at = 1): Promise<string> {
  const backup = `${path}.querent-backup${at === 1 ? '' : `-${at}`}`
  try {
    await copyFile(path, backup, constants.COPYFILE_EXCL)
    return backup
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return copyAside(path, at + 1)
  }
}

/** For a path that does not exist yet: the real folder above it, and the names below that. */
async function realPlace(path: string): Promise<string> {
  const absolute = resolve(path)
  const above = dirname(absolute)
  const real = await orAbsent(realpath(absolute), absolute)
  return real ?? (above === absolute ? absolute : join(await realPlace(above), basename(absolute)))
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === path
}

async function orAbsent<T>(reading: Promise<T>, path: string): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw failed(path, (error as Error).message, error)
  }
}

function failed(path: string, why: string, cause?: unknown): QuerentError {
  return new QuerentError('io_failed', `${path}: ${why}`, { path }, cause)
}
