import { useEffect, useState } from 'preact/hooks'
import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { addressOf, goTo, route } from '../../shell/router.ts'
import { viewer } from '../../shell/session.ts'
import { AnswerHead } from './answer-head.tsx'
import { Comparison } from './comparison.tsx'
import { Filters } from './filters.tsx'
import { askedBy, type Question, questionOf, settingsOf } from './question.ts'
import { remember } from './recent.ts'
import { Results } from './results.tsx'
import { SearchBox } from './search-box.tsx'
import { usePages } from './use-pages.ts'
import { usePicked } from './use-picked.ts'
import { Welcome } from './welcome.tsx'

/** The question stands in the address, so that a link to it is a link to its answer. */
export function SearchPage() {
  const question = questionOf(route.value.settings)
  const asked = askedBy(question)
  const key = JSON.stringify([asked, viewer.value])
  const pages = usePages(asked)
  const { picked, pick, clear } = usePicked(key)
  const [areFiltersOpen, openFilters] = useState(false)
  useEffect(() => remember(question.text), [question.text])
  const ask = (next: Question) => goTo(addressOf('search', [], settingsOf(next)))
  const { first, items, cursor, error, isLoading, more } = pages
  return (
    <div class="search stack">
      <h1 class="visually-hidden">Search</h1>
      <SearchBox
        key={question.text}
        question={question}
        ask={ask}
        areFiltersOpen={areFiltersOpen}
        toggleFilters={() => openFilters(!areFiltersOpen)}
      />
      <Filters question={question} ask={ask} isOpen={areFiltersOpen} />
      {asked === null && <Welcome question={question} ask={ask} />}
      {error !== null && <Failure error={error} />}
      {first !== null && <AnswerHead page={first} shown={items.length} question={question} ask={ask} />}
      {asked !== null && picked.length > 0 && <Comparison query={asked} picked={picked} close={clear} />}
      {first !== null && asked !== null && (
        <Results key={key} items={items} picked={picked} pick={pick} clear={clear} />
      )}
      {isLoading && <Busy what="Asking" />}
      {cursor !== null && !isLoading && (
        <button type="button" class="more" onClick={more}>
          More results
        </button>
      )}
    </div>
  )
}
