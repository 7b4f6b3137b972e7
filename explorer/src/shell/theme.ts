import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'querent.theme'

export const theme = signal<Theme>(kept())

effect(() => {
  const { value } = theme
  document.documentElement.style.colorScheme = value === 'system' ? 'light dark' : value
  localStorage.setItem(KEY, value)
})

function kept(): Theme {
  const value = localStorage.getItem(KEY)
  return value === 'light' || value === 'dark' ? value : 'system'
}
