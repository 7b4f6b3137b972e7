import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { SuggestedField, Suggestion, Suggestions } from '../../../../src/model/query-input.ts'
import { call } from '../../api.ts'
import { countFilters, type Question } from './question.ts'

// What the word before the caret could become.

/** The word that is being typed, and its place in the text. */
export interface Typed {
  readonly start: number
  readonly end: number
  /** `+` or `-` before it. */
  readonly sign: string
  /** Null: any of them. */
  readonly field: SuggestedField | null
  readonly prefix: string
}

export interface Completion {
  readonly label: string
  /** Beside the label: what it is, how often there is. */
  readonly remark: string
  /** The whole text with it, and the place of the caret. */
  readonly text: string
  readonly caret: number
}

const FIELDS: Readonly<Record<string, SuggestedField>> = {
  collection: 'collection',
  kind: 'kind',
  tag: 'tag',
  tags: 'tag',
  holder: 'holder',
}

/** Null: there is no word before the caret. */
function typedAt(text: string, caret: number): Typed | null {
  const word = /\S+$/.exec(text.slice(0, caret))?.[0]
  if (word === undefined) return null
  const [, sign = '', name = '', value] = /^([+-]?)(?:([a-z]+):)?(.*)$/.exec(word) ?? []
  const field = FIELDS[name] ?? null
  if (field === null && (name !== '' || /["\\]/.test(word))) return null
  return { start: caret - word.length, end: caret, sign, field, prefix: (value ?? '').replace(/^"/, '') }
}

function completionsOf(
  text: string,
  typed: Typed | null,
  suggestions: readonly Suggestion[],
  recent: readonly string[],
): readonly Completion[] {
  const named = typed === null ? [] : suggestions.map(one => completed(text, typed, one))
  return [...named, ...again(text, recent)]
}

/** Questions that begin as this one does. */
function again(text: string, recent: readonly string[]): readonly Completion[] {
  const begin = text.trimStart().toLowerCase()
  return recent
    .filter(asked => asked.toLowerCase().startsWith(begin) && asked !== text)
    .slice(0, 5)
    .map(asked => ({ label: asked, remark: 'asked before', text: asked, caret: asked.length }))
}

function completed(
  text: string,
  { start, end, sign, field }: Typed,
  { field: of, value, count }: Suggestion,
): Completion {
  // A sign before a bare word is about the word; as part of a field it means something else.
  const head = field === null ? '' : sign === '-' ? '-' : ''
  const inserted = `${head}${of}:${quoted(value)} `
  return {
    label: value,
    remark: `${of}, ${count}`,
    text: text.slice(0, start) + inserted + text.slice(end).trimStart(),
    caret: start + inserted.length,
  }
}

function quoted(value: string): string {
  return /^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** Questions that were asked here lately. They stay in this browser. */
const KEY = 'querent.recent'
const MOST = 50

export function remember(text: string): void {
  const asked = text.trim()
  if (asked === '') return
  const next = [asked, ...recent().filter(one => one !== asked)].slice(0, MOST)
  localStorage.setItem(KEY, JSON.stringify(next))
}

/** Newest first. */
export function recent(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(one => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Who types on is not asked for. */
const PAUSE_MS = 120
const MAX_NAMES = 4

/** Of the text at the caret; none where `isOn` is false. */
function useCompletions(text: string, caret: number, isOn: boolean): readonly Completion[] {
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([])
  const typed = isOn ? typedAt(text, caret) : null
  const key = typed === null ? '' : JSON.stringify([typed.field, typed.prefix])
  useEffect(() => {
    setSuggestions([])
    if (typed === null) return
    const controller = new AbortController()
    const timer = setTimeout(() => void fetchNames(typed, controller.signal).then(setSuggestions), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [key])
  return isOn ? completionsOf(text, typed, suggestions, recent()) : []
}

/** Completing is a help: where it fails, there is none. */
async function fetchNames({ field, prefix }: Typed, signal: AbortSignal): Promise<readonly Suggestion[]> {
  const fields = field === null ? ['collection', 'kind', 'tag'] : [field]
  const limit = field === null ? MAX_NAMES : 2 * MAX_NAMES
  try {
    return (await call<Suggestions>('suggest', { prefix, fields, limit }, signal)).suggestions
  } catch {
    return []
  }
}

interface SearchBoxProps {
  readonly question: Question
  readonly areFiltersOpen: boolean
  ask(question: Question): void
  toggleFilters(): void
}

/** An input with a list below it that is no datalist. */
function combobox(isListed: boolean) {
  return { role: 'combobox', list: undefined, 'aria-expanded': isListed } as const
}

/** The text of the question, completed as it is typed. */
export function SearchBox({ question, ask, areFiltersOpen, toggleFilters }: SearchBoxProps) {
  const [typed, setTyped] = useState({ text: question.text, caret: question.text.length })
  const [isOpen, setOpen] = useState(false)
  const [chosen, choose] = useState(-1)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const completions = useCompletions(typed.text, typed.caret, isOpen)
  const isListed = isOpen && completions.length > 0
  const filters = countFilters(question)

  const close = (): void => {
    setOpen(false)
    choose(-1)
  }
  const take = ({ text, caret }: Completion): void => {
    setTyped({ text, caret })
    close()
    const { current } = field
    if (current === null) return
    current.value = text
    current.focus()
    current.setSelectionRange(caret, caret)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      if (isListed) close()
      else field.current?.blur()
    } else if (isListed && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault()
      event.stopPropagation()
      const by = event.key === 'ArrowDown' ? 1 : -1
      choose(Math.max(-1, Math.min(chosen + by, completions.length - 1)))
    } else if (isListed && (event.key === 'Enter' || event.key === 'Tab')) {
      const completion = completions[chosen]
      if (completion === undefined) return
      event.preventDefault()
      take(completion)
    }
  }

  return (
    <search>
      <form
        class="search-box"
        onSubmit={event => {
          event.preventDefault()
          close()
          ask({ ...question, text: typed.text.trim() })
        }}
      >
        <label class="visually-hidden" for={`${id}-field`}>
          Question
        </label>
        <div class="search-field">
          <input
            ref={field}
            id={`${id}-field`}
            type="search"
            name="q"
            data-key="/"
            value={typed.text}
            placeholder="Ask in plain words"
            autocomplete="off"
            spellcheck={false}
            enterkeyhint="search"
            {...combobox(isListed)}
            aria-autocomplete="list"
            aria-controls={`${id}-list`}
            aria-activedescendant={isListed && chosen >= 0 ? `${id}-${chosen}` : undefined}
            onInput={event => {
              const { value, selectionStart } = event.currentTarget
              setTyped({ text: value, caret: selectionStart ?? value.length })
              choose(-1)
              setOpen(true)
            }}
            onKeyDown={onKey}
            onBlur={close}
          />
          <div id={`${id}-list`} role="listbox" aria-label="Suggestions" class="search-suggestions" hidden={!isListed}>
            {completions.map((completion, at) => (
              <div
                key={completion.text}
                id={`${id}-${at}`}
                role="option"
                tabIndex={-1}
                aria-selected={at === chosen}
                onPointerDown={event => {
                  // Before the field loses the focus, and with it this list.
                  event.preventDefault()
                  take(completion)
                }}
              >
                <span>{completion.label}</span> <span class="quiet small">{completion.remark}</span>
              </div>
            ))}
          </div>
        </div>
        <button type="submit" class="primary">
          Ask
        </button>
        <button type="button" aria-expanded={areFiltersOpen} aria-controls="search-filters" onClick={toggleFilters}>
          Filters{filters > 0 && ` (${filters})`}
        </button>
      </form>
    </search>
  )
}

interface NameListProps {
  readonly label: string
  readonly names: readonly string[]
  /** To choose from; others can be typed. */
  readonly known: readonly string[]
  change(names: readonly string[]): void
}

/** Names that are added one by one and taken away by a click. */
export function NameList({ label, names, known, change }: NameListProps) {
  const id = useId()
  return (
    <div class="field name-list">
      <label for={`${id}-field`}>{label}</label>
      {names.map(name => (
        <button key={name} type="button" class="chip" onClick={() => change(names.filter(one => one !== name))}>
          {name} <span aria-hidden="true">×</span>
          <span class="visually-hidden">: take away</span>
        </button>
      ))}
      <input
        id={`${id}-field`}
        type="text"
        list={`${id}-known`}
        placeholder="add …"
        autocomplete="off"
        spellcheck={false}
        onChange={event => {
          const given = event.currentTarget.value.trim()
          event.currentTarget.value = ''
          if (given !== '' && !names.includes(given)) change([...names, given])
        }}
      />
      <datalist id={`${id}-known`}>
        {known
          .filter(name => !names.includes(name))
          .map(name => (
            <option key={name} value={name} />
          ))}
      </datalist>
    </div>
  )
}
