/** Slack's markup to the text one sees: mentions by name, links with their words. */

export interface SlackNames {
  user(id: string): string | null
  channel(id: string): string | null
}

export function slackText(markup: string, names: SlackNames): string {
  return markup.replace(/<([^<>]+)>|&(amp|lt|gt);/g, (whole, inner: string | undefined, entity: string | undefined) => {
    if (inner === undefined) return entity === 'amp' ? '&' : entity === 'lt' ? '<' : '>'
    return referenceText(inner, names) ?? whole
  })
}

function referenceText(inner: string, names: SlackNames): string | null {
  const bar = inner.indexOf('|')
  const target = bar < 0 ? inner : inner.slice(0, bar)
  const label = bar < 0 ? '' : unescaped(inner.slice(bar + 1))
  const id = target.slice(1)
  if (target.startsWith('@')) return `@${names.user(id) ?? (label.replace(/^@/, '') || id)}`
  if (target.startsWith('#')) return `#${label.replace(/^#/, '') || (names.channel(id) ?? id)}`
  if (target.startsWith('!')) return label === '' ? `@${id.split('^')[0]}` : label
  if (!/^[a-z][a-z0-9+.-]*:/i.test(target)) return null
  const address = unescaped(target).replace(/^(mailto|tel):/, '')
  return label === '' || label === address || `http://${label}` === address ? address : `${label} (${address})`
}

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name: string) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'))
}
