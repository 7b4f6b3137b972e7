/**
 * Files that are written under another name and moved to their own when they are finished, so that a file of that name is either complete or
 * absent.
 */
import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

/** Path for the file until it is finished, in the same folder; different in each call. */
export function unfinishedPath(path: string): string {
  return `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}.unfinished`
}

/**
 * Moves a finished file, which is already on the disk, to its own name, readable by the owner alone. Without `overwrite`, throws `EEXIST` if
 * there is a file of that name.
 */
export function putInPlace(unfinished: string, path: string, overwrite: boolean): void {
  chmodSync(unfinished, 0o600)
  if (overwrite) renameSync(unfinished, path)
  else linkInPlace(unfinished, path)
  if (process.platform !== 'win32') syncFile(dirname(path))
}

/**
 * Uses a hard link where the disk supports them, so that a file created at that name meanwhile is not overwritten.
 */
function linkInPlace(unfinished: string, path: string): void {
  try {
    linkSync(unfinished, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(path)) throw error
    renameSync(unfinished, path)
  }
}

/** Writes what the operating system still holds of a file or folder to the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
