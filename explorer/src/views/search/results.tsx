import { useEffect, useRef, useState } from 'preact/hooks'
import type { Item } from '../../../../src/model/page.ts'
import { isTyping } from '../../shell/keys.tsx'
import { Result } from './result.tsx'

export interface ResultsProps {
  readonly items: readonly Item[]
  readonly picked: readonly Item[]
  pick(item: Item): void
  clear(): void
}

/** The results in their order. Keys go from one to the next; one of them is in the order of tabs. */
export function Results({ items, picked, pick, clear }: ResultsProps) {
  const [active, setActive] = useState(0)
  const [open, setOpen] = useState<ReadonlySet<Item>>(new Set())
  const list = useRef<HTMLOListElement>(null)

  const toggle = (item: Item): void => {
    const next = new Set(open)
    if (!next.delete(item)) next.add(item)
    setOpen(next)
  }
  const goTo = (at: number): void => {
    const to = Math.max(0, Math.min(at, items.length - 1))
    setActive(to)
    list.current?.querySelectorAll<HTMLElement>('.result')[to]?.focus()
  }
  const onKey = (event: KeyboardEvent): void => {
    if (document.querySelector('dialog[open]') !== null) return
    const isInField = isTyping(event)
    if (event.key === 'ArrowDown' && event.target instanceof HTMLInputElement && event.target.type === 'search') goTo(0)
    else if (isInField) return
    else if (event.key === 'Escape') {
      setOpen(new Set())
      clear()
    } else {
      const isHere = list.current?.contains(document.activeElement) === true
      const item = items[active]
      if (event.key === 'j' || event.key === 'ArrowDown') goTo(isHere ? active + 1 : active)
      else if (event.key === 'k' || event.key === 'ArrowUp') goTo(active - 1)
      else if (event.key === 'c' && item !== undefined) pick(item)
      else if (event.key === 'Enter' && item !== undefined && isResult(event.target)) toggle(item)
      else return
    }
    event.preventDefault()
  }
  const handler = useRef(onKey)
  handler.current = onKey
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => handler.current(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])

  const most = Math.max(...items.map(({ score }) => score), 0)
  return (
    <ol class="results" ref={list} aria-label="Results">
      {items.map((item, at) => (
        <li key={`${item.rank} ${item.holder} ${item.id}`}>
          <Result
            item={item}
            most={most > 0 ? most : 1}
            isActive={at === active}
            isOpen={open.has(item)}
            isPicked={picked.includes(item)}
            focused={() => setActive(at)}
            toggle={() => toggle(item)}
            pick={() => pick(item)}
          />
        </li>
      ))}
    </ol>
  )
}

/** Not a link or a button in it, which have their own meaning of Enter. */
function isResult(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.classList.contains('result')
}
