/** The sixteen colours by name, in every spelling. */
import { COLORS, type ColorFact } from '../facts/facts.ts'

/** By the form of `plain`. */
const BY_NAME: ReadonlyMap<string, ColorFact> = new Map([
  ...COLORS.flatMap(color => color.aliases.map(alias => [plain(alias), color] as const)),
  ...COLORS.map(color => [plain(color.name), color] as const),
])

const NAME = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?:${[...BY_NAME.keys()]
    // The longest name wins: light blue is not blue.
    .sort((a, b) => b.length - a.length)
    .map(name => name.replaceAll(' ', String.raw`[\s_-]+`).replaceAll('GREY', 'GR[EA]Y'))
    .join('|')})(?![\p{L}\p{N}_])`,
  'giu',
)

/** In order of appearance, each once. */
export function colorsIn(query: string): readonly ColorFact[] {
  const found = [...query.matchAll(NAME)].map(match => BY_NAME.get(plain(match[0])))
  return [...new Set(found.filter(color => color !== undefined))]
}

export function colorNamed(name: string): ColorFact | null {
  return BY_NAME.get(plain(name)) ?? null
}

/** Capitals, British grey, one blank for each blank, hyphen or underscore. */
function plain(name: string): string {
  return name
    .trim()
    .toUpperCase()
    .replace(/[\s_-]+/g, ' ')
    .replaceAll('GRAY', 'GREY')
}
