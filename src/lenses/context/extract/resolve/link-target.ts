/** Where a relative link of a Markdown document leads: to a file's own concept, or to the section its anchor names. */
import type { ConceptPlace, Facts } from './facts.ts'
import { folderOf, inFolder, join } from './paths.ts'

export function linkTarget(from: string, link: string, facts: Facts): ConceptPlace | null {
  const [address = '', anchor = ''] = link.split('#', 2)
  const name = decoded(address.replace(/[?].*$/s, ''))
  const path = name === '' ? from : name.startsWith('/') ? join('', name) : join(folderOf(from), name)
  if (path === null) return null
  const found = [path, `${path}.md`, inFolder(path, 'README.md'), inFolder(path, 'index.md')].find(
    candidate => candidate !== '' && facts.has(candidate),
  )
  const surface = found === undefined ? null : facts.surface(found)
  if (found === undefined || surface === null) return null
  const anchors = surface.anchors ?? {}
  const section = anchor !== '' && Object.hasOwn(anchors, decoded(anchor)) ? anchors[decoded(anchor)] : undefined
  return { path: found, key: section ?? (surface.keys[0] as string) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
