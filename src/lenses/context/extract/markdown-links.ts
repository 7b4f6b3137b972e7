/** What a paragraph of Markdown links to: inline links, links in HTML, and links whose address is defined elsewhere. */

/** Destination in angle brackets, or one that may hold pairs of round brackets; then perhaps a title. */
const INLINE =
  /(?<!\\)\]\(\s{0,20}(?:<([^<>\n]{1,500})>|((?:[^\s()<>\\]|\\.|\((?:[^\s()<>\\]|\\.){0,200}\)){1,500}))(?:\s{1,20}(?:"[^"]{0,300}"|'[^']{0,300}'|\([^()]{0,300}\)))?\s{0,20}\)/g
const HTML = /<a\s[^<>]{0,300}?\bhref\s{0,5}=\s{0,5}["']([^"'\s<>]{1,500})["']/gi
const DEFINITION = /^ {0,3}\[([^\]\n]{1,300})\]:\s{0,20}(?:<([^<>\n]{1,500})>|([^\s<>]{1,500}))/gm
/** `[text][label]`, `[label][]`, `[label]`. */
const BY_LABEL = /(?<!\\)\[([^\][]{1,300})\](?:\[([^\][]{0,300})\])?(?![(:])/g

export interface Links {
  readonly addresses: readonly string[]
  readonly definitions: readonly { readonly label: string; readonly address: string }[]
  /** Names that may be defined; most are not. */
  readonly labels: readonly string[]
}

export function linksIn(paragraph: string): Links {
  if (!/[[<]/.test(paragraph)) return { addresses: [], definitions: [], labels: [] }
  const text = withoutCode(paragraph)
  const definitions = [...text.matchAll(DEFINITION)].map(([, label, bracketed, plain]) => ({
    label: labelOf(label as string),
    address: bracketed ?? (plain as string),
  }))
  const prose = definitions.length === 0 ? text : text.replace(DEFINITION, '')
  const inline = [...prose.matchAll(INLINE)].map(([, bracketed, plain]) => bracketed ?? unescaped(plain as string))
  return {
    addresses: [...inline, ...[...prose.matchAll(HTML)].map(([, address]) => address as string)],
    definitions,
    labels: [...prose.matchAll(BY_LABEL)].map(([, text, label]) => labelOf(label || (text as string))),
  }
}

/** Not of another site. */
export function isRelative(address: string): boolean {
  return !/^[a-z][a-z+.-]*:|^\/\//i.test(address)
}

/** A code span ends with as many marks as it began with; marks that nothing ends are text. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)]
  const last = new Map(runs.map(({ index, 0: marks }) => [marks.length, index]))
  let plain = ''
  let from = 0
  let opening: { readonly at: number; readonly length: number } | null = null
  for (const { index, 0: marks } of runs) {
    if (opening === null) {
      if ((last.get(marks.length) as number) > index) opening = { at: index, length: marks.length }
    } else if (marks.length === opening.length) {
      plain += `${text.slice(from, opening.at)} `
      from = index + marks.length
      opening = null
    }
  }
  return plain + text.slice(from)
}

function labelOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase()
}

function unescaped(address: string): string {
  return address.replace(/\\([!-/:-@[-`{-~])/g, '$1')
}
