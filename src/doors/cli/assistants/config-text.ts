/** What an edit of a configuration needs to know, whatever its format. */
import { QuerentError } from '../../../model/errors.ts'
import type { ConfigEntry } from './clients.ts'

/** The name that the server stands under. */
export const SERVER_NAME = 'querent'

export interface ConfigEdit {
  /** For messages. */
  readonly file: string
  /** The object that holds the servers by name. */
  readonly key: string
  /** null takes the entry out. */
  readonly entry: ConfigEntry | null
}

/** `line` and `column` count from 1. */
export function brokenConfig(file: string, line: number, column: number, expected: string): QuerentError {
  return new QuerentError(
    'invalid_argument',
    `${file}:${line}:${column}: ${expected}; correct the file, nothing was written`,
    { field: 'client', file, line, column, expected },
  )
}

export function editByHand(file: string, key: string, why: string): QuerentError {
  return new QuerentError(
    'conflict',
    `${file}: ${why}; change the entry ${key}.${SERVER_NAME} by hand, nothing was written`,
    { file, key },
  )
}
