/** What the writer of a mail wrote in it: without what is quoted, and without a signature. */

/** Behind it stands a signature (RFC 3676, 4.3), unless blanks at line ends were lost on the way. */
const SIGNATURE = /^-- $/
const BARE_SIGNATURE = /^--\s*$/
const MAX_SIGNATURE_LINES = 10
const TELEPHONE =
  /^(?:sent from my |get outlook for |sent with |enviado desde (?:mi |el )|obtener outlook para |obtén outlook para ).{1,60}$/i
/** The line above a quotation, which mail programs wrap; it names a day and a writer. */
const ATTRIBUTION = /^(?:On|El) .{4,300}(?:wrote|escribió)\s*:$/s
const MAX_ATTRIBUTION_LINES = 4
const ORIGINAL = /^-{2,}\s*(?:Original Message|Original Appointment|Mensaje original)\s*-{2,}$/i
const FORWARDED =
  /^(?:-{2,}\s*(?:Forwarded message|Mensaje reenviado)\s*-{2,}|Begin forwarded message:|Inicio del mensaje reenviado:)$/i
/** Headers of the mail that is answered, as Outlook copies them into the answer. */
const COPIED_FROM = /^\*?(?:From|De):\*?\s/i
const COPIED_SENT = /^\*?(?:Sent|Date|Enviado(?: el)?|Fecha):\*?\s/i

/** All of it where nothing else is left: somebody may pass a mail on without a word of their own. */
export function ownText(body: string): string {
  const lines = body.replace(/\r\n?/g, '\n').split('\n')
  const own = withoutTelephone(withoutSignature(withoutQuotes(lines)))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
  const text = own.trim()
  return text === '' ? body.replace(/\r\n?/g, '\n').trim() : text
}

function withoutQuotes(lines: readonly string[]): readonly string[] {
  const own: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    const bare = line.trim()
    if (FORWARDED.test(bare)) return [...own, ...lines.slice(at)]
    if (ORIGINAL.test(bare) || isCopiedHead(lines, at)) return withoutRule(own)
    const length = attributionLength(lines, at)
    if (length > 0) {
      const next = lines.slice(at + length).find(one => one.trim() !== '')
      if (next === undefined || !next.trimStart().startsWith('>')) return own
      at += length - 1
      continue
    }
    if (!/^\s?>/.test(line)) own.push(line)
  }
  return own
}

/** How many lines the introduction of a quotation takes that begins here; 0 when none does. */
function attributionLength(lines: readonly string[], at: number): number {
  if (!/^(?:On|El) /.test((lines[at] as string).trim())) return 0
  for (let length = 1; length <= MAX_ATTRIBUTION_LINES && at + length <= lines.length; length++) {
    const text = lines
      .slice(at, at + length)
      .map(line => line.trim())
      .join(' ')
    if (ATTRIBUTION.test(text)) return /\d/.test(text) ? length : 0
    if (lines[at + length]?.trim() === '') return 0
  }
  return 0
}

function isCopiedHead(lines: readonly string[], at: number): boolean {
  if (!COPIED_FROM.test((lines[at] as string).trim())) return false
  const before = lines[at - 1]?.trim() ?? ''
  if (before !== '' && !/^_{5,}$/.test(before)) return false
  return lines.slice(at + 1, at + 4).some(line => COPIED_SENT.test(line.trim()))
}

/** A rule of underscores stands above copied headers. */
function withoutRule(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex(line => line.trim() !== '')
  return end >= 0 && /^_{5,}$/.test((lines[end] as string).trim()) ? lines.slice(0, end) : lines
}

function withoutSignature(lines: readonly string[]): readonly string[] {
  const sure = lines.findIndex(line => SIGNATURE.test(line))
  if (sure >= 0) return lines.slice(0, sure)
  const bare = lines.findLastIndex(line => BARE_SIGNATURE.test(line))
  return bare >= 0 && lines.length - bare - 1 <= MAX_SIGNATURE_LINES ? lines.slice(0, bare) : lines
}

function withoutTelephone(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex(line => line.trim() !== '')
  return end >= 0 && TELEPHONE.test((lines[end] as string).trim()) ? lines.slice(0, end) : lines
}
