/**
 * Access to the files of the folder that a store belongs to, for code that has no access to the disk of its own. Nothing outside the folder
 * is read.
 */
import type { Instant } from '../base/clock.ts'

export type FileProblem = 'not_found' | 'unreadable' | 'outside' | 'too_large'

export type WorkspaceFile =
  | {
      readonly ok: true
      readonly url: string
      /** SHA-256 of the file's bytes, in hexadecimal. */
      readonly hash: string
      readonly size: number
      readonly modifiedAt: Instant
      /** Text of the file; null: the file is binary. */
      readonly text: string | null
    }
  | { readonly ok: false; readonly url: string; readonly code: FileProblem; readonly message: string }

/** A file or folder that is left out when the workspace folder is listed. */
export interface LeftOut {
  /** URL of the file or folder; a folder is left out with everything in it. */
  readonly url: string
  /** Reason for leaving it out: `ignored`, `excluded`, `media`, …; `unreadable` for a folder that could not be listed. */
  readonly reason: string
}

export interface Workspace {
  /** `file://` URL of the workspace folder, without a slash at the end. */
  readonly url: string
  /** Path of the file that holds the store. */
  readonly storeFile: string
  /** `file://` URL of a path, which may be relative to the workspace folder. */
  urlOf(path: string): string
  /**
   * Reads a file. A problem with the disk is returned in the result, never thrown. A link that leads out of the workspace folder counts as
   * outside.
   */
  read(url: string): Promise<WorkspaceFile>
  /**
   * Fingerprint of the names, sizes and modification times of all files at or below a URL. The fingerprint changes when any of these
   * change.
   */
  mark(url: string, signal: AbortSignal): Promise<string>
  /**
   * URLs of the files at or below a path, ordered by name: exactly the files that a listing of the whole workspace folder would give there.
   * `leftOut` is called for each file or folder left out, including a folder above the path. For a path that does not exist, nothing is
   * returned.
   */
  list(path: string | null, signal: AbortSignal, leftOut?: (file: LeftOut) => void): AsyncIterable<string>
}
