/** Who asks: a token where the server wants one, and the viewer as whom the owner looks at the store. */
import { computed, effect, signal } from '@preact/signals'

const TOKEN = 'querent.token'
const VIEWER = 'querent.viewer'

/** Kept for this tab only. */
export const token = signal(sessionStorage.getItem(TOKEN))
/** Null: as oneself. */
export const viewer = signal(sessionStorage.getItem(VIEWER))
/** Whether the server has refused to answer without a token. */
export const isTokenWanted = signal(false)

/** Both as one text. Nothing that was shown to one asker may be shown to another. */
export const asker = computed(() => JSON.stringify([token.value, viewer.value]))

effect(() => keep(TOKEN, token.value))
effect(() => keep(VIEWER, viewer.value))

export function credentials(): Record<string, string> {
  return {
    ...(token.value !== null && { authorization: `Bearer ${token.value}` }),
    ...(viewer.value !== null && { 'querent-viewer': viewer.value }),
  }
}

function keep(name: string, value: string | null): void {
  if (value === null) sessionStorage.removeItem(name)
  else sessionStorage.setItem(name, value)
}
