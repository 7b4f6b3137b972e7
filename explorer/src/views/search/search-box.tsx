import { useId, useRef, useState } from 'preact/hooks'
import type { Completion } from './completion.ts'
import { countFilters, type Question } from './question.ts'
import { useCompletions } from './use-completions.ts'

export interface SearchBoxProps {
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
