import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Suggestions } from '../../src/model/query-input.ts'
import { call } from './api.ts'
import { Busy, Failure } from './parts/parts.tsx'
import { Keys, openKeys } from './shell/keys.tsx'
import { addressOf, route, type ViewProps } from './shell/router.ts'
import { isTokenWanted, type Theme, theme, token, viewer } from './shell/session.ts'
import { hasLens, isOwner } from './shell/store-facts.ts'

// What one can look at. A view is loaded when it is first opened: only two of them need a renderer of their own.

interface ViewEntry {
  readonly path: string
  readonly title: string
  /** Lens without which the view has nothing to show. */
  readonly lens?: string
  load(): Promise<{ readonly View: FunctionComponent<ViewProps> }>
}

const VIEWS: readonly ViewEntry[] = [
  { path: 'search', title: 'Search', load: () => import('./views/search/view.tsx') },
  { path: 'live', title: 'Live', load: () => import('./views/live/view.tsx') },
  { path: 'colour', title: 'Colour space', lens: 'chroma', load: () => import('./views/colour/view.tsx') },
  { path: 'graph', title: 'Concepts', lens: 'context', load: () => import('./views/graph/view.tsx') },
  { path: 'beliefs', title: 'Beliefs', lens: 'beliefs', load: () => import('./views/beliefs/view.tsx') },
  { path: 'store', title: 'Store', load: () => import('./views/store/view.tsx') },
]

/** Asks for a token where the server answers nobody without one, or not with the one that was given. */
function SignIn() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isWanted = isTokenWanted.value
  useEffect(() => {
    if (isWanted) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isWanted])
  return (
    <dialog
      ref={dialog}
      class="sign-in"
      aria-labelledby="sign-in-title"
      onCancel={event => event.preventDefault()}
      // A browser closes it all the same for who presses Escape again and again.
      onClose={() => isTokenWanted.value && dialog.current?.showModal()}
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          const given = new FormData(event.currentTarget).get('token')
          event.currentTarget.reset()
          isTokenWanted.value = false
          token.value = typeof given === 'string' && given !== '' ? given : null
        }}
      >
        <h2 id="sign-in-title">This server wants a token</h2>
        {token.value !== null && <p class="bad">The one you gave is not known here.</p>}
        <label class="field">
          <span>Token</span>
          <input name="token" type="password" required autocomplete="current-password" />
        </label>
        <p class="quiet small">It is kept for this tab alone, and sent to this server alone.</p>
        <button type="submit" class="primary">
          Continue
        </button>
      </form>
    </dialog>
  )
}

/** Forgets the token. */
function SignOut() {
  if (token.value === null) return null
  return (
    <button type="button" class="small" onClick={() => (token.value = null)}>
      Sign out
    </button>
  )
}

/** The owner looks at the store as somebody else would see it. Nobody else is offered that. */
function ViewerSwitch() {
  const holders = useHolders()
  const [typed, setTyped] = useState(viewer.value ?? '')
  useEffect(() => setTyped(viewer.value ?? ''), [viewer.value])
  if (!isOwner.value) return null
  return (
    <div class={viewer.value === null ? 'field small' : 'field small as-other'}>
      <label for="viewer">View as</label>
      <input
        id="viewer"
        type="text"
        name="viewer"
        list="holders"
        value={typed}
        placeholder="yourself"
        spellcheck={false}
        autocomplete="off"
        onInput={event => setTyped(event.currentTarget.value)}
        onChange={event => {
          const given = event.currentTarget.value.trim()
          setTyped(given)
          viewer.value = given === '' ? null : given
        }}
      />
      <datalist id="holders">
        {holders.map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {viewer.value !== null && (
        <button type="button" aria-label="Be yourself again" onClick={() => (viewer.value = null)}>
          ×
        </button>
      )}
    </div>
  )
}

/** Those who hold something, and the agents of this store. Asked for as oneself. */
function useHolders(): readonly string[] {
  const [holders, setHolders] = useState<readonly string[]>([])
  const mayAsk = isOwner.value && viewer.value === null
  const hasAgents = hasLens('beliefs')
  useEffect(() => {
    if (!mayAsk) return
    const controller = new AbortController()
    const agents = hasAgents ? agentNames(controller.signal) : Promise.resolve([])
    Promise.all([holderNames(controller.signal), agents]).then(
      names => setHolders([...new Set(names.flat())].sort()),
      () => {}, // any name can still be typed
    )
    return () => controller.abort()
  }, [mayAsk, hasAgents])
  return holders
}

async function holderNames(signal: AbortSignal): Promise<readonly string[]> {
  const { suggestions } = await call<Suggestions>('suggest', { fields: ['holder'], limit: 100 }, signal)
  return suggestions.map(({ value }) => value)
}

async function agentNames(signal: AbortSignal): Promise<readonly string[]> {
  const { agents } = await call<{ agents: readonly { readonly id: string }[] }>('agents.list', {}, signal)
  return agents.map(({ id }) => id)
}

const THEMES: readonly Theme[] = ['system', 'light', 'dark']

function Header() {
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

interface Loaded {
  readonly path: string
  readonly View: FunctionComponent<ViewProps>
}

const loaded = signal<Loaded | null>(null)
const failed = signal<unknown>(null)

/** The view that the address names. */
function Outlet() {
  const { path, rest } = route.value
  const entry = VIEWS.find(view => view.path === path)
  useEffect(() => {
    failed.value = null
    document.title = entry === undefined ? 'Querent' : `${entry.title} · Querent`
    entry?.load().then(
      ({ View }) => {
        if (route.value.path === entry.path) loaded.value = { path: entry.path, View }
      },
      (thrown: unknown) => {
        failed.value = thrown
      },
    )
  }, [entry])
  if (entry === undefined) return <Failure error={new Error(`There is no view “${path}”.`)} />
  if (failed.value !== null) return <Failure error={failed.value} />
  if (loaded.value?.path !== path) return <Busy what="Opening the view" />
  const { View } = loaded.value
  return <View rest={rest} />
}

export function App() {
  return (
    <>
      <button
        type="button"
        class="skip"
        onClick={() => {
          // The address is the view's; going to the content must not leave it.
          document.getElementById('main')?.focus()
        }}
      >
        Skip to content
      </button>
      <Header />
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <footer class="bottom small">
        <a href="docs">API of this server</a>
      </footer>
      <Keys />
      <SignIn />
    </>
  )
}
