/** The words by which statements in English and Spanish oppose each other. All folded: lower case, without accents. */

export type OppositionLanguage = 'en' | 'es'

interface OppositionWords {
  readonly negations: ReadonlySet<string>
  /** Verbs and adjectives that deny what follows. */
  readonly denials: ReadonlySet<string>
  /** Whether two negations in a sentence undo each other; in Spanish they add up to one. */
  readonly doubles: boolean
  /** Phrases that look like a negation and are none. */
  readonly harmless: RegExp
  /** They make a statement weaker. */
  readonly hedges: ReadonlySet<string>
  readonly universals: ReadonlySet<string>
  /** They say that something is not as it was. */
  readonly changes: RegExp
  /** Words that say nothing of the subject. */
  readonly fillers: ReadonlySet<string>
  /** Any of the words before the colon opposes any behind it. */
  readonly opposites: readonly string[]
  /** What makes the opposite of the word that it stands before. */
  readonly prefixes: readonly string[]
  readonly numbers: Readonly<Record<string, number>>
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))
const counted = (text: string): Readonly<Record<string, number>> =>
  Object.fromEntries(text.split(/\s+/).map(pair => [pair.split(':')[0], Number(pair.split(':')[1])]))

export const WORDS: Readonly<Record<OppositionLanguage, OppositionWords>> = {
  en: {
    negations: words('not no never none nobody nothing neither nor without'),
    denials: words('unable false untrue deny denies denied fail fails failed lack lacks lacked'),
    doubles: true,
    harmless: /\bnot (only|just|merely|much|many)\b|\bno (doubt|one knows)\b/g,
    hedges: words(`may might could some sometimes often usually probably perhaps possibly likely rarely seldom generally
      typically mostly tends tend occasionally`),
    universals: words('all every always any each'),
    changes: /\b(no longer|used to|formerly|previously|until|since|anymore|any more|nowadays|now)\b/,
    fillers: words('true fact case evidence people person someone somebody thing one longer there able'),
    opposites: [
      'increase increases increased raise raises raised rise rises risen boost boosts grow grows improve improves gain gains: decrease decreases decreased reduce reduces reduced lower lowers fall falls fallen drop drops shrink shrinks worsen worsens lose loses decline declines',
      'safe harmless: dangerous unsafe harmful risky hazardous',
      'good healthy beneficial: bad unhealthy harmful',
      'open opens opened: closed closes close shut',
      'true: false',
      'support supports supported favour favours back backs: oppose opposes opposed reject rejects rejected',
      'accept accepts accepted approve approves approved: reject rejects rejected refuse refuses refused',
      'allow allows allowed permit permits permitted legal: ban bans banned forbid forbids forbidden prohibit prohibits prohibited illegal',
      'cause causes caused: prevent prevents prevented',
      'win wins won: lose loses lost',
      'more higher greater larger: less lower fewer smaller',
      'cheap cheaper: expensive',
      'fast faster quick: slow slower',
      'hot warm: cold cool',
      'before earlier: after later',
      'alive living: dead',
      'guilty: innocent',
      'success succeeds succeeded: failure fails failed',
      'begin begins start starts started: end ends ended stop stops stopped',
      'present: absent',
      'always: never',
      'black: white',
      'wet: dry',
      'rich: poor',
      'strong: weak',
      'full: empty',
      'first: last',
      'best: worst',
    ],
    prefixes: ['un', 'in', 'im', 'il', 'ir', 'dis', 'non'],
    numbers:
      counted(`zero:0 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 fifteen:15
      twenty:20 thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 thousand:1000`),
  },
  es: {
    negations: words('no nunca jamas ningun ninguna ninguno nadie nada sin tampoco ni'),
    denials: words('incapaz falso falsa niega niegan nego carece carecen'),
    doubles: false,
    harmless: /\bno (solo|solamente|unicamente|mucho|mucha|muchos|muchas)\b|\bsin duda\b/g,
    hedges:
      words(`puede pueden podria podrian quiza quizas algun alguna algunos algunas veces suele suelen probablemente
      posiblemente generalmente normalmente rara raramente`),
    universals: words('todo toda todos todas siempre cada'),
    changes: /\b(ya no|antes|antiguamente|hasta|desde|ahora|hoy)\b/,
    fillers: words('verdad cierto cierta caso persona personas gente cosa'),
    opposites: [
      'aumenta aumentan aumentara aumento sube suben subira subio crece crecen crecera mejora mejoran eleva: disminuye disminuyen disminuira reduce reducen reducira baja bajan bajara bajo decrece decrecen empeora empeoran cae caen caera',
      'seguro segura seguros seguras: peligroso peligrosa peligrosos peligrosas inseguro insegura',
      'bueno buena buenos buenas saludable: malo mala malos malas danino danina perjudicial',
      'abierto abierta abre abren: cerrado cerrada cierra cierran',
      'verdadero verdadera: falso falsa',
      'apoya apoyan acepta aceptan aprueba aprueban: rechaza rechazan opone oponen',
      'permite permiten permitido permitida legal: prohibe prohiben prohibido prohibida ilegal',
      'causa causan provoca provocan: previene previenen evita evitan impide impiden',
      'gana ganan gano: pierde pierden perdio',
      'mas mayor superior: menos menor inferior',
      'barato barata: caro cara',
      'rapido rapida: lento lenta',
      'caliente calido: frio fria',
      'vivo viva: muerto muerta',
      'culpable: inocente',
      'empieza comienza: termina acaba',
      'presente: ausente',
      'blanco blanca: negro negra',
      'mejor: peor',
      'primero primera: ultimo ultima',
    ],
    prefixes: ['in', 'im', 'i', 'des'],
    numbers:
      counted(`cero:0 dos:2 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9 diez:10 once:11 doce:12 quince:15
      veinte:20 treinta:30 cuarenta:40 cincuenta:50 cien:100 mil:1000`),
  },
}
