import type { Page } from '../../../src/model/page.ts'
import { share } from './format.ts'

const WORDS = { answered: 'Answered', weak: 'Weak answer', nothing_relevant: 'Nothing relevant' } as const

/** Where words or conditions answer, it says nothing how much could be found by meaning. */
const HAS_MEANING: ReadonlySet<Page['mode']> = new Set(['hybrid', 'meaning'])

export type AnswerFacts = Pick<Page, 'verdict' | 'reason' | 'notes' | 'coverage' | 'mode' | 'lens'>

/** What an answer is worth: its verdict and why, what to know about it, how much was looked at. */
export function Verdict({ verdict, reason, notes, coverage, mode, lens }: AnswerFacts) {
  return (
    <div class="verdict">
      <p>
        <strong class={`verdict-word ${verdict}`}>{WORDS[verdict]}</strong>
        {reason && <span> {reason}</span>}
      </p>
      <ul>
        <li>lens {lens}</li>
        <li>{mode === 'list' ? 'a list by conditions' : `by ${mode === 'hybrid' ? 'words and meaning' : mode}`}</li>
        {HAS_MEANING.has(mode) && <li>{share(coverage.embedded)} embedded</li>}
        {!coverage.complete && <li class="warn">cut short by the deadline</li>}
        {coverage.failed.length > 0 && <li class="warn">no answer from {coverage.failed.join(', ')}</li>}
      </ul>
      {notes.map(({ code, message }) => (
        <p key={code + message} class="note">
          {message}
        </p>
      ))}
    </div>
  )
}
