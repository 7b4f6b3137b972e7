import { useEffect, useState } from 'preact/hooks'
import type { Suggestions } from '../../../src/model/suggest.ts'
import { call } from '../api/call.ts'
import { viewer } from './session.ts'
import { hasLens, isOwner } from './store-facts.ts'

/** The owner looks at the store as somebody else would see it. Nobody else is offered that. */
export function ViewerSwitch() {
  const holders = useHolders()
  const [typed, setTyped] = useState(viewer.value ?? '')
  useEffect(() => setTyped(viewer.value ?? ''), [viewer.value])
  if (!isOwner.value) return null
  return (
    <div class={viewer.value === null ? 'field small' : 'field small as-other'}>
      <label for="viewer">Look as</label>
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
