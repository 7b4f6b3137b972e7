/** The folder that a store belongs to, for code that may not access the disk itself. Nothing outside of the folder is read. */
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
  /** Reads a file. Never rejects for errors of the disk. Links that lead out of the folder count as outside. */
  read(url: string): Promise<WorkspaceFile>
  /** Fingerprint of the names, sizes and modification times of all files at or below a URL; it changes when any of these change. */
  mark(url: string, signal: AbortSignal): Promise<string>
  /**
   * URLs of the files at or below a path, in the order of names: exactly those that listing the whole folder would give. If a folder on the
   * way to the path is left out, that folder is reported; for a path that does not exist, nothing is.
   */
  list(path: string | null, signal: AbortSignal, leftOut?: (file: LeftOut) => void): AsyncIterable<string>
}
