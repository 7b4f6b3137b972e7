/** The main reasons for a message in one line. */
import { compareText } from '../../../base/compare.ts'
import { componentsOf, conversationShare, type Signals, wordSignal } from './signals.ts'

const MOST_WORDS = 3
const PARTS = ['words', 'meaning', 'neighbours', 'block'] as const
const FACTORS = ['speaker', 'when', 'user', 'phrase'] as const
/** Parts of the score that are less than this are not told. */
const LEAST = 0.005

/**
 * `words 0.46 (barn, kiln) + meaning 0.33 (cosine 0.55) + neighbours 0.17 + block 0.30, × speaker 1.2`: what it has in its
 * conversation, weights worked in; `, conversation 0.41`: what speaks for that one, where there are others.
 */
export function whyOf(signals: Signals, words: readonly string[]): string {
  const components = componentsOf(signals, signals['within'] ?? 0)
  let parts = ''
  for (const name of PARTS) {
    const value = components[name]
    if (value < LEAST) continue
    parts += `${parts === '' ? '' : ' + '}${name} ${value.toFixed(2)}${detailOf(name, signals, words)}`
  }
  let why = parts === '' ? 'little speaks for it' : parts
  for (const name of FACTORS) {
    if (signals[name] !== undefined) why += `, × ${name} ${Number(signals[name].toFixed(2))}`
  }
  return signals['most'] === undefined ? why : `${why}, conversation ${conversationShare(signals).toFixed(2)}`
}

function detailOf(part: string, signals: Signals, words: readonly string[]): string {
  if (part === 'meaning') return ` (cosine ${(signals['cosine'] ?? 0).toFixed(2)})`
  if (part !== 'words') return ''
  const matched = words.flatMap((word, place) => {
    const adds = signals[wordSignal(place)]
    return adds === undefined ? [] : [{ word, adds }]
  })
  matched.sort((a, b) => b.adds - a.adds || compareText(a.word, b.word))
  const shown = matched.slice(0, MOST_WORDS).map(({ word }) => word)
  return ` (${shown.join(', ')}${matched.length > MOST_WORDS ? ' …' : ''})`
}
