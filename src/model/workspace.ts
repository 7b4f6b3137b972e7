/** The folder that a store belongs to, for those who may not touch the disk themselves. Nothing outside of it is read. */
import type { Instant } from '../base/clock.ts'

export type FileProblem = 'not_found' | 'unreadable' | 'outside' | 'too_large'

export type WorkspaceFile =
  | {
      readonly ok: true
      readonly url: string
      /** Hexadecimal SHA-256 of the bytes. */
      readonly hash: string
      readonly size: number
      readonly modifiedAt: Instant
      /** Null: the file is binary. */
      readonly text: string | null
    }
  | { readonly ok: false; readonly url: string; readonly code: FileProblem; readonly message: string }

/** What listing passes over. */
export interface LeftOut {
  /** Of a file, or of a folder with all that is below it. */
  readonly url: string
  /** `ignored`, `excluded`, `media`, …; `unreadable` for a folder that could not be looked into. */
  readonly reason: string
}

export interface Workspace {
  /** `file://` and the absolute path of the folder, without a slash at the end. */
  readonly url: string
  /** Path of the file that holds the store. */
  readonly storeFile: string
  /** `file://` URL of a path, which may be relative to the folder. */
  urlOf(path: string): string
  /** Never rejects for what the disk says. Links that lead out of the folder are outside. */
  read(url: string): Promise<WorkspaceFile>
  /** One text for names, sizes and times of all files at or below a URL; another one where any of them changed. */
  mark(url: string, signal: AbortSignal): Promise<string>
  /**
   * URLs of the files at or below a path, in the order of names: those that listing the whole folder gives, whatever the
   * path. What is on the way to the path and left out is told of itself; of a path that leads nowhere nothing is told.
   */
  list(path: string | null, signal: AbortSignal, leftOut?: (file: LeftOut) => void): AsyncIterable<string>
}
