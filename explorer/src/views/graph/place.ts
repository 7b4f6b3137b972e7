import type { Place } from './lens.ts'

/** The path of a file and its lines, `/project/src/login.ts:4-6`. */
export function shownPlace({ url, start_line, end_line }: Place): string {
  if (url === null) return ''
  const lines = start_line === null ? '' : `:${start_line}${end_line === null ? '' : `-${end_line}`}`
  return `${plainPath(url)}${lines}`
}

function plainPath(url: string): string {
  const path = url.replace(/^file:\/\//, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
