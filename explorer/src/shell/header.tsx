import { useEffect, useRef } from 'preact/hooks'
import { VIEWS } from '../views.ts'
import { openKeys } from './keys.tsx'
import { addressOf, route } from './router.ts'
import { SignOut } from './sign-in.tsx'
import { hasLens } from './store-facts.ts'
import { type Theme, theme } from './theme.ts'
import { ViewerSwitch } from './viewer-switch.tsx'

const THEMES: readonly Theme[] = ['system', 'light', 'dark']

export function Header() {
  const views = useRef<HTMLElement>(null)
  const { path: shown } = route.value
  // On a narrow screen they are wider than the room there is.
  useEffect(() => {
    const row = views.current
    if (row === null) return
    const showCurrent = () =>
      row.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    showCurrent()
    const room = new ResizeObserver(showCurrent)
    room.observe(row)
    return () => room.disconnect()
  }, [shown])
  return (
    <header class="top">
      <a class="brand" href={addressOf('search')}>
        Querent
      </a>
      <nav aria-label="Views" ref={views}>
        {VIEWS.filter(({ lens }) => hasLens(lens)).map(({ path, title }) => (
          <a key={path} href={addressOf(path)} aria-current={shown === path ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div class="top-tools">
        <ViewerSwitch />
        <SignOut />
        <label class="field small">
          <span>Theme</span>
          <select
            name="theme"
            value={theme.value}
            onChange={event => {
              theme.value = event.currentTarget.value as Theme
            }}
          >
            {THEMES.map(name => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="small" aria-label="Keys" title="Keys (?)" onClick={openKeys}>
          ?
        </button>
      </div>
    </header>
  )
}
