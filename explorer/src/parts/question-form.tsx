import { addressOf, goTo } from '../shell/router.ts'

interface QuestionFormProps {
  /** The view that is asked; its address gets the question as `q`. */
  readonly view: string
  readonly name: string
  /** What asking does, as a button says it. */
  readonly action: string
  /** As asked last. */
  readonly question: string
  readonly placeholder?: string
}

/** One line to ask a view by. The field is sized by `<view>-ask` in the view's styles. */
export function QuestionForm({ view, name, action, question, placeholder }: QuestionFormProps) {
  return (
    <search>
      <form
        class="row"
        onSubmit={event => {
          event.preventDefault()
          const given = new FormData(event.currentTarget).get('q')
          goTo(addressOf(view, [], { q: typeof given === 'string' ? given.trim() : '' }))
        }}
      >
        <label class={`field ${view}-ask`}>
          <span>{name}</span>
          <input
            type="search"
            name="q"
            data-key="/"
            defaultValue={question}
            placeholder={placeholder}
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <button type="submit" class="primary">
          {action}
        </button>
      </form>
    </search>
  )
}
