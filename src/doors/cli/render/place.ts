/** Where something came from, short: a path from the working folder, with lines; and the section there. */
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Excerpt } from '../../../model/page.ts'
import { oneLine } from './style.ts'

export function place(origin: string | null, excerpt: Excerpt, workingFolder: string): string {
  const lines =
    excerpt.start_line === excerpt.end_line ? `${excerpt.start_line}` : `${excerpt.start_line}-${excerpt.end_line}`
  return origin === null ? `lines ${lines}` : `${shortOrigin(origin, workingFolder)}:${lines}`
}

/** `Backups › Restoring`, with two blanks before it; empty where the excerpt is in no section. */
export function sectionPath({ section }: Excerpt): string {
  return section.length === 0 ? '' : `  ${section.map(oneLine).join(' › ')}`
}

export function shortOrigin(origin: string, workingFolder: string): string {
  const path = origin.startsWith('file:') ? pathOf(origin) : origin
  if (!isAbsolute(path)) return oneLine(path)
  const short = relative(workingFolder, path)
  return oneLine(short === '' || short.startsWith('..') ? path : short)
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}
