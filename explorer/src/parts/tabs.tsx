import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import './tabs.css'

export interface Tab {
  readonly name: string
  readonly title: string
  readonly content: ComponentChildren
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
}

/** One of several things at a time. Arrow keys go from tab to tab. */
export function Tabs({ label, tabs }: TabsProps) {
  const [chosen, choose] = useState(tabs[0]?.name)
  const id = useId()
  const at = Math.max(
    0,
    tabs.findIndex(({ name }) => name === chosen),
  )
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    event.stopPropagation()
    const next = tabs[(at + by + tabs.length) % tabs.length]
    choose(next?.name)
    document.getElementById(`${id}-tab-${next?.name}`)?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={step}>
        {tabs.map(({ name, title }, place) => (
          <button
            key={name}
            id={`${id}-tab-${name}`}
            type="button"
            role="tab"
            aria-selected={place === at}
            aria-controls={`${id}-panel`}
            tabIndex={place === at ? 0 : -1}
            onClick={() => choose(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-tab-${tabs[at]?.name}`}>
        {tabs[at]?.content}
      </div>
    </div>
  )
}
