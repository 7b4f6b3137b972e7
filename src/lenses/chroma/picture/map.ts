/**
 * The map: nodes in the a/b plane of CIELAB, each in its own colour, larger the stronger its memory; a question with its
 * hits on top. One SVG document, readable without scripts, fonts or styles from elsewhere.
 */
import type { Color } from '../model.ts'
import { hexOf } from './lab-color.ts'

export interface MapNode {
  readonly label: string
  readonly color: Color
  /** 0 to below 1. */
  readonly strength: number
  readonly rotten: boolean
  readonly ascended: boolean
}

export interface MapQuestion {
  readonly color: Color
  /** What was asked, for the legend. */
  readonly text: string
  /** Best first. */
  readonly hits: readonly { readonly label: string; readonly color: Color; readonly score: number }[]
}

export interface MapContent {
  /** Strongest first; at most `MOST_NODES`. */
  readonly nodes: readonly MapNode[]
  /** Of these so many in all. */
  readonly total: number
  readonly question: MapQuestion | null
}

/** More would hide each other, and make a document no viewer opens quickly. */
export const MOST_NODES = 5_000
/** Pixels. */
const PLANE = 768
const MARGIN = 48
const LEGEND = 340
const MOST_HITS_NAMED = 20
/** Radius in pixels of a node never used, and what full strength adds. */
const SMALLEST = 3
const GROWTH = 9

export function mapSvg({ nodes, total, question }: MapContent): string {
  const width = PLANE + 2 * MARGIN + LEGEND
  const height = PLANE + 2 * MARGIN
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<title>${escaped(titleOf(total, question))}</title>`,
    `<rect width="${width}" height="${height}" fill="#f7f7f5"/>`,
    axes(),
    `<g stroke="#00000030">${nodes.map(dot).join('')}</g>`,
    question === null ? '' : marks(question),
    legend(nodes.length, total, question),
    '</svg>\n',
  ].join('\n')
}

function titleOf(nodes: number, question: MapQuestion | null): string {
  const asked = question === null ? '' : `, asked for ${question.text}`
  return `Colour map of ${nodes} nodes${asked}`
}

function axes(): string {
  const lines: string[] = []
  for (let value = -128; value <= 128; value += 32) {
    const [x, y] = [acrossOf(value), downOf(value)]
    const strong = value === 0 ? '#b0b0b0' : '#e2e2de'
    lines.push(`<path d="M${x} ${MARGIN}V${MARGIN + PLANE}M${MARGIN} ${y}H${MARGIN + PLANE}" stroke="${strong}"/>`)
    lines.push(`<text x="${x}" y="${MARGIN + PLANE + 18}" text-anchor="middle" fill="#777">${value}</text>`)
    lines.push(`<text x="${MARGIN - 8}" y="${y + 4}" text-anchor="end" fill="#777">${value}</text>`)
  }
  lines.push(
    `<text x="${MARGIN + PLANE / 2}" y="${MARGIN + PLANE + 38}" text-anchor="middle" fill="#444">a: green to red</text>`,
  )
  const middle = MARGIN + PLANE / 2
  lines.push(
    `<text x="14" y="${middle}" text-anchor="middle" fill="#444" transform="rotate(-90 14 ${middle})">b: blue to yellow</text>`,
  )
  return `<g>${lines.join('')}</g>`
}

function dot({ label, color, strength, rotten, ascended }: MapNode): string {
  const [x, y] = placeOf(color)
  const radius = rounded(SMALLEST + GROWTH * strength)
  const look = `${rotten ? ' opacity="0.35"' : ''}${ascended ? ' stroke="#c79a00" stroke-width="2"' : ''}`
  return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${hexOf(color)}"${look}><title>${escaped(label)}</title></circle>`
}

function marks({ color, hits }: MapQuestion): string {
  const [x, y] = placeOf(color)
  const rings = hits.map((hit, at) => {
    const [hx, hy] = placeOf(hit.color)
    const number = `<text x="${hx + 13}" y="${hy - 8}" font-weight="bold" fill="#111">${at + 1}</text>`
    return `<circle cx="${hx}" cy="${hy}" r="12" fill="none" stroke="#111" stroke-width="1.5"/>${number}`
  })
  const cross = `<path d="M${x - 12} ${y}H${x + 12}M${x} ${y - 12}V${y + 12}" stroke="#d00000" stroke-width="3"/>`
  return `<g>${rings.join('')}${cross}</g>`
}

function legend(drawn: number, total: number, question: MapQuestion | null): string {
  const x = PLANE + 2 * MARGIN
  const lines = [
    `${total} nodes${total > drawn ? `, the ${drawn} strongest drawn` : ''}`,
    'fill: the colour of its hashtags (lightness L too)',
    'size: strength of memory',
    'gold rim: ascended; pale: rotten',
  ]
  if (question !== null) {
    lines.push('', 'red cross: the question', ...wrapped(question.text), '', 'rings: its hits, best first')
    for (const [at, hit] of question.hits.slice(0, MOST_HITS_NAMED).entries()) {
      lines.push(`${at + 1}. ${shortened(hit.label, 36)}  ${hit.score.toFixed(3)}`)
    }
  }
  const texts = lines.map(
    (line, at) => `<text x="${x}" y="${MARGIN + 14 + at * 20}" fill="#222">${escaped(line)}</text>`,
  )
  return `<g>${texts.join('')}</g>`
}

function placeOf([, a, b]: Color): readonly [number, number] {
  return [acrossOf(a), downOf(b)]
}

function acrossOf(a: number): number {
  return rounded(MARGIN + ((a + 128) / 256) * PLANE)
}

function downOf(b: number): number {
  return rounded(MARGIN + ((128 - b) / 256) * PLANE)
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

const LINE = 44

/** Words in lines that the legend has room for; at most six. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) as string
    if (line !== '' && line.length + word.length >= LINE) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.slice(0, 6).map(line => shortened(line, LINE))
}

function shortened(text: string, length: number): string {
  const characters = [...text]
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text
}

/** As XML takes it: without the characters it has no way to write. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
