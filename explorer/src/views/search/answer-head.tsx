import type { Page } from '../../../../src/model/page.ts'
import { counted } from '../../parts/format.ts'
import { Verdict } from '../../parts/verdict.tsx'
import type { Question } from './question.ts'
import { Trace } from './trace.tsx'

export interface AnswerHeadProps {
  readonly page: Page
  readonly shown: number
  readonly question: Question
  ask(question: Question): void
}

/** What the answer is worth, before what it says. */
export function AnswerHead({ page, shown, question, ask }: AnswerHeadProps) {
  const isNothing = page.verdict === 'nothing_relevant'
  const isList = page.mode === 'list'
  return (
    <section class={isNothing ? 'answer-head card nothing' : 'answer-head'} aria-label="About this answer">
      <Verdict {...page} />
      <p class="quiet small" role="status">
        {shown === 0
          ? 'No results'
          : `${counted(shown, 'result')} shown${page.cursor === null ? '' : ', there are more'}`}
      </p>
      {isNothing && (
        <div class="row">
          <p>
            {isList
              ? 'No entry that you may see fulfils all of them. Take one away to see more.'
              : 'That means: nothing on this subject is known here. It does not mean that something is not so.'}
          </p>
          {!question.any && !isList && (
            <button type="button" onClick={() => ask({ ...question, any: true })}>
              Show what comes nearest
            </button>
          )}
        </div>
      )}
      {page.trace && <Trace stages={page.trace} />}
    </section>
  )
}
