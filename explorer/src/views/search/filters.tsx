import type { Suggestions } from '../../../../src/model/query-input.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { lenses } from '../../shell/store-facts.ts'
import { MODES, type Mode, type Question } from './question.ts'
import { NameList } from './search-box.tsx'

interface FiltersProps {
  readonly question: Question
  readonly isOpen: boolean
  ask(question: Question): void
}

const MODE_WORDS: Readonly<Record<Mode, string>> = {
  hybrid: 'words and meaning',
  words: 'words alone',
  meaning: 'meaning alone',
}

/** Conditions beside the text, each asked at once. */
export function Filters({ question, isOpen, ask }: FiltersProps) {
  const change = (part: Partial<Question>) => ask({ ...question, ...part })
  const { value } = useAnswer<Suggestions>('suggest', isOpen ? { limit: 100 } : null)
  const known = (field: string) => (value?.suggestions ?? []).filter(one => one.field === field).map(one => one.value)
  return (
    <section id="search-filters" class="search-filters card" aria-label="Filters" hidden={!isOpen}>
      <label class="field">
        <span>Lens</span>
        <select name="lens" value={question.lens} onChange={event => change({ lens: event.currentTarget.value })}>
          <option value="">the store’s own</option>
          {(lenses.value ?? []).map(({ name, summary }) => (
            <option key={name} value={name} title={summary}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Search by</span>
        <select
          name="mode"
          value={question.mode}
          onChange={event => change({ mode: event.currentTarget.value as Mode })}
        >
          {MODES.map(mode => (
            <option key={mode} value={mode}>
              {MODE_WORDS[mode]}
            </option>
          ))}
        </select>
      </label>
      <Day label="Changed since" name="since" day={question.since} change={since => change({ since })} />
      <Day label="and before" name="before" day={question.before} change={before => change({ before })} />
      <NameList
        label="Collections"
        names={question.collections}
        known={known('collection')}
        change={collections => change({ collections })}
      />
      <NameList label="Kinds" names={question.kinds} known={known('kind')} change={kinds => change({ kinds })} />
      <NameList
        label="All of these tags"
        names={question.tags}
        known={known('tag')}
        change={tags => change({ tags })}
      />
      <label class="field">
        <input
          type="checkbox"
          name="any"
          checked={question.any}
          onChange={event => change({ any: event.currentTarget.checked })}
        />
        also what is not relevant enough
      </label>
    </section>
  )
}

interface DayProps {
  readonly label: string
  readonly name: string
  /** As a date field has it; empty: any. */
  readonly day: string
  readonly change: (day: string) => void
}

function Day({ label, name, day, change }: DayProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="date" name={name} value={day} onChange={event => change(event.currentTarget.value)} />
    </label>
  )
}
