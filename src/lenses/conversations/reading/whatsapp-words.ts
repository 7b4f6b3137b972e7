/** What WhatsApp itself writes into an export, in English and Spanish. */
import type { Attachment } from '../model.ts'

/** What becomes of the text of a message. */
export interface Said {
  readonly text: string
  readonly attachments: readonly Attachment[]
  readonly isEdited: boolean
  readonly isDeleted: boolean
}

const ANY_MARK = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** At the end of a message; between it and the text stand a blank and sometimes a mark. */
const EDITED = /^<(?:This message was edited|Se editó este mensaje|Este mensaje fue editado|Mensaje editado)\.?>$/i
const DELETED =
  /^(?:This message was deleted|You deleted this message|This message was deleted by admin .{1,100}|Se eliminó este mensaje|Este mensaje fue eliminado|Este mensaje se eliminó|Eliminaste este mensaje|Mensaje eliminado|Un admin(?:istrador)?\. eliminó este mensaje)\.?$/i

/** `<Media omitted>`, where the export was made without pictures and sounds. */
const MEDIA_OMITTED = /^<(?:Media omitted|Multimedia omitido|Archivo omitido|Medios omitidos)>$/i
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:image|photo|imagen|foto)$/i, 'image'],
  [/^(?:video note|nota de v[ií]deo|video|vídeo)$/i, 'video'],
  [/^(?:audio|voice message|mensaje de voz)$/i, 'audio'],
  [/^gif$/i, 'video'],
  [/^(?:sticker|pegatina)$/i, 'sticker'],
  [/^(?:document|documento)$/i, 'document'],
  [/^(?:contact card|tarjeta de contacto|contacto)$/i, 'contact'],
]
/** On iOS by kind, behind the name of a document: `report.pdf • 3 pages document omitted`. */
const KIND_OMITTED =
  /^([\s\S]*?)[\u200e\u200f]{0,3}(image|photo|imagen|foto|video note|nota de v[ií]deo|video|vídeo|audio|gif|sticker|pegatina|document|documento|contact card|tarjeta de contacto) (?:omitted|omitid[oa])$/i
const ATTACHED = /[\u200e\u200f]{0,3}<(?:attached|adjunto|archivo adjunto): ([^<>\n]+)>/gi
/** On Android; what follows on other lines was written below the picture. */
const FILE_ATTACHED = /^[\u200e\u200f]*([^\n]+?) \((?:file attached|archivo adjunto)\)[ \t]*(?:\n|$)/i

export function saidIn(raw: string): Said {
  const end = raw.lastIndexOf('<')
  const isEdited = end >= 0 && EDITED.test(raw.slice(end).trimEnd())
  let text = isEdited ? withoutEnd(raw.slice(0, end)) : raw
  const bare = text.replace(ANY_MARK, '').trim()
  if (DELETED.test(bare)) return { text: '', attachments: [], isEdited, isDeleted: true }
  const attachments: Attachment[] = []
  if (MEDIA_OMITTED.test(bare)) return { text: '', attachments: [file('media', null)], isEdited, isDeleted: false }
  const omitted = KIND_OMITTED.exec(text.trim())
  // Somebody may write "image omitted" themselves: WhatsApp puts a mark in front of its own words, or nothing else there.
  if (omitted !== null && (omitted[1] === '' || /[\u200e\u200f]/.test(text))) {
    const before = (omitted[1] ?? '').replace(ANY_MARK, '').trim()
    const kind = KINDS.find(([words]) => words.test(omitted[2] as string))?.[1] ?? 'media'
    const name = kind === 'document' ? before.split(' • ')[0] || null : null
    const own = kind === 'document' ? '' : before
    return { text: own, attachments: [file(kind, name)], isEdited, isDeleted: false }
  }
  text = text.replace(ATTACHED, (_, name: string) => {
    attachments.push(file(kindOfName(name), name.trim()))
    return ''
  })
  const first = FILE_ATTACHED.exec(text)
  if (first !== null) {
    const name = first[1] as string
    attachments.push(file(kindOfName(name), name))
    text = text.slice(first[0].length)
  }
  const begins = text.replace(/^[\u200e\ufeff]+/, '')
  return { text: attachments.length > 0 ? begins.trim() : begins, attachments, isEdited, isDeleted: false }
}

function withoutEnd(text: string): string {
  return text
    .trimEnd()
    .replace(/[\u200e\u200f]{1,3}$/, '')
    .trimEnd()
}

function file(kind: string, name: string | null): Attachment {
  return { kind, caption: null, name }
}

/** `IMG-20250314-WA0001.jpg`, `00000012-PHOTO-2025-03-14-10-00-00.jpg`, `PTT-20250314-WA0002.opus`. */
function kindOfName(name: string): string {
  if (/\.webp$|sticker|^STK-/i.test(name)) return 'sticker'
  if (/\.(?:jpe?g|png|heic|gif)$/i.test(name)) return 'image'
  if (/\.(?:mp4|mov|3gp|mkv)$/i.test(name)) return 'video'
  if (/\.(?:opus|m4a|mp3|aac|ogg|amr)$/i.test(name)) return 'audio'
  return /\.vcf$/i.test(name) ? 'contact' : 'document'
}

/** What happened, as WhatsApp tells it. */
const HAPPENED = [
  'end-to-end encrypted|cifrad[oa]s? de extremo a extremo',
  'created (?:this |the )?group|creó (?:este|el) grupo|creaste (?:este|el) grupo',
  ' added |were added|añadió|agregó|añadiste|agregaste|te añad|te agreg',
  ' removed | left$|left the group|salió|saliste|eliminó a|eliminaste a|te eliminó',
  'joined|se unió|te uniste|requested to join',
  ' changed | cambió | cambiaste |security code|código de seguridad',
  'now an admin|ahora eres admin|dismissed as admin',
  'blocked|unblocked|bloqueaste|desbloqueaste|is a contact|es un contacto',
  'disappearing messages|mensajes temporales|pinned a message|fijó un mensaje|fijaste un mensaje',
  'voice call|video call|missed (?:voice|video|group)|no answer|started a call|llamada|videollamada|sin respuesta',
  'waiting for this message|esperando este mensaje|business account|cuenta de empresa',
]
const EVENT = new RegExp(HAPPENED.join('|'), 'i')
const ENCRYPTED =
  /^[\u200e\u200f]*(?:Messages and calls are end-to-end encrypted|Messages to this (?:chat|group) .{0,60}end-to-end encryption|Los mensajes y las llamadas están cifrados|Los mensajes y llamadas están cifrados)/i
/** Told on Android in a line that could be a message of somebody of a long name: the name of the group may hold a colon. */
const NAMED_GROUP = new RegExp(
  String.raw`^(?:(?:(?!:\s).){1,100}? )?(?:` +
    '(?:changed the (?:subject|group name|group description)|cambi(?:ó|aste) el (?:asunto|nombre)(?: del grupo)?) (?:from|to|de|a) |' +
    '(?:created (?:this |the )?group|cre(?:ó|aste) (?:este |el )?grupo) ["“«])',
  'i',
)

/** Whether the text of a message, by somebody, tells of an event instead. */
export function isEventText(text: string): boolean {
  if (ENCRYPTED.test(text)) return true
  // Such lines begin with a mark on iOS; people hardly ever do.
  return text.startsWith('\u200e') && EVENT.test(text)
}

/** Whether a line that has a colon is told by WhatsApp all the same. */
export function isEventLine(rest: string): boolean {
  return ENCRYPTED.test(rest) || NAMED_GROUP.test(rest.replace(ANY_MARK, ''))
}

const FILE_NAME = /^(?:WhatsApp Chat with|WhatsApp Chat -|Chat de WhatsApp con|Chat de WhatsApp -)\s+(.+?)$/i

/** Who the chat is with, by the name of the export or of its folder; null where that says nothing. */
export function chatNameIn(name: string): string | null {
  // A second download of the same name has a number behind it.
  return FILE_NAME.exec(name.replace(ANY_MARK, '').replace(/ \(\d+\)$/, ''))?.[1]?.trim() ?? null
}
