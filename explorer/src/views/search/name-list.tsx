import { useId } from 'preact/hooks'

export interface NameListProps {
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
