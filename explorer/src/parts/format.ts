/** Numbers and moments for people. The title of the element has the exact value. */

const COUNT = new Intl.NumberFormat('en')
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

export function count(value: number): string {
  return COUNT.format(value)
}

/** 0 to 1 as a percentage. Never rounded up to all. */
export function share(value: number): string {
  return PERCENT.format(value < 1 ? Math.floor(value * 1000) / 1000 : 1)
}

export function score(value: number): string {
  return value.toFixed(3)
}

export function bytes(value: number): string {
  const step = value < 1000 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), UNITS.length - 1)
  const shown = value / 1000 ** step
  return `${step === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${UNITS[step]}`
}

export function day(iso: string): string {
  return DAY.format(new Date(iso))
}

export function moment(iso: string): string {
  return MOMENT.format(new Date(iso))
}

export function timeOfDay(iso: string): string {
  return TIME.format(new Date(iso))
}

/** `1 entry`, `2 entries`. */
export function counted(value: number, one: string, many: string = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}
