/** Keys of the whole page, and the list of all there are. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'to the search field'],
  ['↓ ↑ or j k', 'from result to result'],
  ['Enter', 'open or close a result: its reasons'],
  ['c', 'pick a result to compare; the second one compares'],
  ['Esc', 'close what is open; out of a field'],
  ['?', 'the list of keys'],
]

const areShown = signal(false)

export function openKeys(): void {
  areShown.value = true
}

/** Whether letters are text now and no keys. */
export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event
  const isField = target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  return isField || event.ctrlKey || event.metaKey || event.altKey
}

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === '?' && !isTyping(event)) openKeys()
      if (event.key === '/' && !isTyping(event)) {
        const field = document.querySelector<HTMLElement>('[data-key="/"]')
        if (field === null) return
        event.preventDefault()
        field.focus()
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  const isOpen = areShown.value
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
  }, [isOpen])
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={() => (areShown.value = false)}>
      <h2 id="keys-title">Keys</h2>
      <dl class="facts">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}
