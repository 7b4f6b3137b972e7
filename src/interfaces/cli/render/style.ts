/** Colours where a person looks on, and text that cannot command a terminal. */
import pc from 'picocolors'
import { printable, printableStyled, STYLE_ESCAPE } from '../../../base/printable.ts'
import type { Io } from '../io.ts'

export interface Style {
  bold(text: string): string
  dim(text: string): string
  mark(text: string): string
  good(text: string): string
  bad(text: string): string
}

/** For `writeStyled`. NO_COLOR (any value but empty) and a missing terminal mean none; FORCE_COLOR means always. */
export function styleOf({ env, stdout }: Pick<Io, 'env' | 'stdout'>): Style {
  const wanted = stdout.isTTY === true && env['TERM'] !== 'dumb'
  const colors = pc.createColors(env['NO_COLOR'] ? false : env['FORCE_COLOR'] ? true : wanted)
  // Escapes in the text are data; those that come around it are ours.
  const own = (styled: (text: string) => string) => (text: string) =>
    styled(printableStyled(text, STYLE_ESCAPE)).replaceAll('\u001b', STYLE_ESCAPE)
  return {
    bold: own(colors.bold),
    dim: own(colors.dim),
    mark: own(text => colors.bold(colors.yellow(text))),
    good: own(colors.green),
    bad: own(colors.red),
  }
}

/** No longer than that; where something is cut off is `…`. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1)).toWellFormed()}…`
}

/** `printable` on one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim())
}

export const PLAIN: Style = { bold: same, dim: same, mark: same, good: same, bad: same }

function same(text: string): string {
  return text
}
