/** Colours where a person looks on, and text that cannot command a terminal. */
import pc from 'picocolors'
import type { Io } from '../io.ts'

export interface Style {
  bold(text: string): string
  dim(text: string): string
  mark(text: string): string
  good(text: string): string
  bad(text: string): string
}

/** NO_COLOR (any value but empty) and a missing terminal mean none; FORCE_COLOR means always. */
export function styleOf({ env, stdout }: Pick<Io, 'env' | 'stdout'>): Style {
  const wanted = stdout.isTTY === true && env['TERM'] !== 'dumb'
  const colors = pc.createColors(env['NO_COLOR'] ? false : env['FORCE_COLOR'] ? true : wanted)
  return {
    bold: colors.bold,
    dim: colors.dim,
    mark: text => colors.bold(colors.yellow(text)),
    good: colors.green,
    bad: colors.red,
  }
}

/**
 * Stored text is data: control characters (but tab and line feed) and those that reorder text are shown as `�`, so that
 * no entry can move the cursor, set a title or hide a line.
 */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}

/** No longer than that; where something is cut off stands `…`. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1)).toWellFormed()}…`
}

/** `printable` on one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim())
}
