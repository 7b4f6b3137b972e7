/** Beliefs for the context of a language model, as people are shown them. */
import type { Chain } from './belief.ts'
import { type Answer, answerText, type Ranked } from './beliefs.ts'
import { oneLine, type Style } from './style.ts'

export interface Gathered extends Answer {
  readonly total_tokens: number
  readonly max_tokens: number
  readonly expandable: readonly string[]
}

export function contextText({ total_tokens, max_tokens, expandable, ...answer }: Gathered, style: Style): string {
  const more = expandable.length === 0 ? '' : style.dim(`${oneLine(`to expand: ${expandable.join(', ')}`)}\n`)
  return `${answerText(answer, style)}${total_tokens} of ${max_tokens} tokens\n${more}`
}

export interface Expanded {
  readonly additional_tokens: number
  readonly max_additional_tokens: number
  readonly [expansion: string]: unknown
}

const EXPANSIONS = ['derivation', 'contradictions', 'similar']

export function expandedText(answer: Expanded, style: Style): string {
  const sections = EXPANSIONS.flatMap(name => {
    const found = answer[name] as readonly (Partial<Ranked> & Partial<Chain['chain'][number]>)[] | undefined
    if (found === undefined) return []
    const lines = found.map(({ belief, belief_id, content_preview }) =>
      oneLine(`${belief?.id ?? belief_id}  ${belief?.content ?? content_preview}`),
    )
    return [`${style.bold(name)}\n${lines.map(line => `  ${line}\n`).join('')}`]
  })
  return `${sections.join('')}${answer.additional_tokens} of ${answer.max_additional_tokens} tokens\n`
}
