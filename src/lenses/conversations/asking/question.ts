/** What a question asks for besides its words: a time, what the assistant said, how things stand now. English and Spanish. */
import { isStopWord } from '../../../text/stopwords.ts'
import { tokenise } from '../../../text/tokenise.ts'

export interface Question {
  /** For a time or a date. */
  readonly when: boolean
  /** About what the assistant itself said or did. */
  readonly ofAssistant: boolean
  /** How something is now, rather than how it was. */
  readonly now: boolean
  /** Its words, folded, in order. */
  readonly words: readonly string[]
  /** Those of them that begin with a capital letter. */
  readonly capitals: ReadonlySet<string>
}

export function questionOf(text: string): Question {
  const plain = text.normalize('NFC').toLowerCase()
  const tokens = tokenise(text).filter(({ alias }) => !alias)
  const isCapital = (start: number) => /^\p{Lu}/u.test(text.slice(start, start + 2))
  return {
    when: WHEN.test(plain),
    ofAssistant: isOfAssistant(plain),
    now: NOW.test(plain),
    words: tokens.map(({ term }) => term),
    capitals: new Set(tokens.filter(({ start }) => isCapital(start)).map(({ term }) => term)),
  }
}

export interface Speaker {
  readonly speaker: string
  /** Folded, the first name first. */
  readonly names: readonly string[]
}

/** Each once. */
export function speakersOf(speakers: Iterable<string>): readonly Speaker[] {
  return [...new Set(speakers)].map(speaker => {
    const tokens = tokenise(speaker).filter(({ alias }) => !alias)
    return { speaker, names: tokens.map(({ term }) => term) }
  })
}

/**
 * The one of these speakers whom the question names, by first name or in full; null when none is, or more than one. A first
 * name that is a common word ("Will", "May") must be written as a name.
 */
export function namedSpeaker(speakers: readonly Speaker[], { words, capitals }: Question): string | null {
  const named = speakers.filter(({ names }) => {
    const first = names[0]
    return first !== undefined && words.includes(first) && (!isCommon(first) || capitals.has(first))
  })
  if (named.length === 0 || named.some(({ names }) => names[0] !== named[0]?.names[0])) return null
  const meant = named.length === 1 ? named : named.filter(({ names }) => names.every(name => words.includes(name)))
  return meant.length === 1 ? (meant[0]?.speaker ?? null) : null
}

function isCommon(word: string): boolean {
  return isStopWord(word, 'en') || isStopWord(word, 'es')
}

const WHEN = new RegExp(
  String.raw`^[\s¿¡"']*(?:(?:and|so|but|y|pero|entonces),? )?(?:` +
    String.raw`when\b|(?:since|until) when\b|how long\b|(?:(?:in|on|at) )?(?:what|which) (?:date|day|month|year|time)s?\b|` +
    String.raw`(?:desde |hasta |para )?cu[áa]ndo(?!\p{L})|(?:(?:desde |hasta )?hace )?cu[áa]nto (?:tiempo|hace)(?!\p{L})|hace cu[áa]nto(?!\p{L})|` +
    String.raw`(?:(?:en|de|a|desde|hasta) )?(?:qu[ée]|cu[áa]l) (?:fecha|d[íi]a|mes|año|hora)(?!\p{L}))`,
  'u',
)

/** "you" as whom one speaks to, but for the forms of asking politely. */
function isOfAssistant(plain: string): boolean {
  const left = plain
    .replace(/\b(?:can|could|would|will) you\b|\byou (?:please )?(?:tell|remind)\b|\bdo you (?:know|remember)\b/g, ' ')
    .replace(/(?<!\p{L})(?:me )?(?:puedes|podr[íi]as|quieres)(?!\p{L})/gu, ' ')
  return ADDRESSED.test(left)
}

const ADDRESSED = new RegExp(
  String.raw`\b(?:you|your|yours|yourself)\b|(?<!\p{L})(?:tú|tus?|ti|contigo|tuy[oa]s?|usted)(?!\p{L})|` +
    String.raw`(?<!\p{L})(?:(?:me|nos) \p{L}+[ai]ste|dijiste|recomendaste|sugeriste|explicaste|propusiste|escribiste|` +
    String.raw`hiciste|preparaste|calculaste|resumiste|has (?:dicho|hecho|dado|escrito|\p{L}+[ai]do))(?!\p{L})`,
  'u',
)

const NOW = new RegExp(
  String.raw`(?<!\p{L})(?:now|current|currently|latest|these days|at the moment|nowadays|` +
    String.raw`ahora|actual|actuales|actualmente|hoy en d[íi]a|[úu]ltim[oa]s?)(?!\p{L})`,
  'u',
)
