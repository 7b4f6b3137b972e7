/** What the page keeps of who sits here: a token where the server wants one, the viewer as whom the owner looks, the theme. */
import { computed, effect, signal } from '@preact/signals'

const TOKEN = 'querent.token'
const VIEWER = 'querent.viewer'

/** Kept for this tab only. */
export const token = signal(sessionStorage.getItem(TOKEN))
/** Null: as oneself. */
export const viewer = signal(sessionStorage.getItem(VIEWER))
/** Whether the server has refused to answer without a token. */
export const isTokenWanted = signal(false)

/** Both as one text. Nothing that was shown to one requester may be shown to another. */
export const requester = computed(() => JSON.stringify([token.value, viewer.value]))

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

export type Theme = 'system' | 'light' | 'dark'

const THEME = 'querent.theme'

export const theme = signal<Theme>(keptTheme())

effect(() => {
  const { value } = theme
  document.documentElement.style.colorScheme = value === 'system' ? 'light dark' : value
  localStorage.setItem(THEME, value)
})

function keptTheme(): Theme {
  const value = localStorage.getItem(THEME)
  return value === 'light' || value === 'dark' ? value : 'system'
}
