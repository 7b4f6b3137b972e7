/**
 * Stop words: words too common to search by, for each language, in the folded form in which the tokeniser gives words. The English list
 * comes from measurements of ranking; those of the next five languages contain only function words; the others are those of the package
 * `@orama/stopwords`. The lists also serve to recognise languages (`language.ts`).
 */
import { stopwords as arabic } from '@orama/stopwords/arabic'
import { stopwords as armenian } from '@orama/stopwords/armenian'
import { stopwords as danish } from '@orama/stopwords/danish'
import { stopwords as dutch } from '@orama/stopwords/dutch'
import { stopwords as finnish } from '@orama/stopwords/finnish'
import { stopwords as greek } from '@orama/stopwords/greek'
import { stopwords as hungarian } from '@orama/stopwords/hungarian'
import { stopwords as hindi } from '@orama/stopwords/indian'
import { stopwords as nepali } from '@orama/stopwords/nepali'
import { stopwords as norwegian } from '@orama/stopwords/norwegian'
import { stopwords as romanian } from '@orama/stopwords/romanian'
import { stopwords as russian } from '@orama/stopwords/russian'
import { stopwords as swedish } from '@orama/stopwords/swedish'
import { stopwords as turkish } from '@orama/stopwords/turkish'
import { stopwords as ukrainian } from '@orama/stopwords/ukrainian'
import { fold } from './normalise.ts'

/**
 * Languages that have a stemmer and a list of stop words. The order decides where two languages are equally likely. New languages are added
 * at the end, since indexes into this list are stored.
 */
export const LANGUAGES = [
  ...(['en', 'es', 'fr', 'de', 'it', 'pt'] as const),
  ...(['nl', 'sv', 'da', 'no', 'fi', 'hu', 'ro', 'tr', 'ru', 'uk', 'el', 'ar', 'hy', 'hi', 'ne'] as const),
] as const
export type Language = (typeof LANGUAGES)[number]

export function isStopWord(term: string, language: Language): boolean {
  return stopWords(language).has(term)
}

/** Stop words of a language, made on first use, since most stores need the lists of only a few languages. */
export function stopWords(language: Language): ReadonlySet<string> {
  const known = STOP_WORDS.get(language)
  if (known !== undefined) return known
  const made = language in OWN ? OWN[language as OwnList] : packaged(PACKAGED[language as PackagedList])
  STOP_WORDS.set(language, made)
  return made
}

/** The package's list of stop words in folded form, without entries that the tokeniser splits into several words. */
function packaged(list: readonly string[]): ReadonlySet<string> {
  return new Set(list.map(fold).filter(word => /^[\p{L}\p{M}]+$/u.test(word)))
}

const STOP_WORDS = new Map<Language, ReadonlySet<string>>()

type OwnList = 'en' | 'es' | 'fr' | 'de' | 'it' | 'pt'
type PackagedList = Exclude<Language, OwnList>

const PACKAGED: Readonly<Record<PackagedList, readonly string[]>> = {
  nl: dutch,
  sv: swedish,
  da: danish,
  no: norwegian,
  fi: finnish,
  hu: hungarian,
  ro: romanian,
  tr: turkish,
  ru: russian,
  uk: ukrainian,
  el: greek,
  ar: arabic,
  hy: armenian,
  hi: hindi,
  ne: nepali,
}

const OWN: Readonly<Record<OwnList, ReadonlySet<string>>> = {
  en: words(`a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each eg few for from further had has have he her here hers him his how
    i ie if in into is it its just may me might more most must my no nor not now of off on once one only or other our out
    over own same shall she should so some such than that the their them then there these they this those through to
    too two under until up use used using very was we were what when where which while who whom why will with would
    you your`),
  es: words(`a al algo algun alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos aqui asi aun
    aunque bajo bien cada casi como con contra cual cuales cualquier cuando cuanto de del desde donde dos durante e el
    ella ellas ello ellos en entonces entre era eran es esa esas ese eso esos esta estaba estado estan estar estas este
    esto estos fue fueron fui ha habia habian haber hace hacer hacia han has hasta hay he la las le les lo los luego
    mas me mediante mi mientras mis misma mismas mismo mismos muy nada ni no nos nosotros nuestra nuestro o os otra
    otras otro otros para pero poco por porque pues puede pueden que quien quienes se sea sean segun ser si sido siempre
    sin sino sobre sois solo somos son soy su sus suya suyo tal tambien tampoco tan tanto te tener tengo ti tiene tienen
    toda todas todavia todo todos tras tu tus un una unas uno unos usted ustedes va vamos van y ya yo`),
  fr: words(`a afin ai ainsi alors apres au aucun aucune aussi autre autres aux avait avant avec avoir c ce ceci cela
    celle celles celui ces cet cette ceux chaque chez comme comment d dans de depuis des donc dont du elle elles en
    encore entre est et etaient etait etant etc ete etre eux fait font furent fut ici il ils j je jusque l la laquelle
    le lequel les leur leurs lors lorsque lui m ma mais me meme memes mes moi moins mon n ne ni nos notre nous on ont
    ou par parce pas pendant peu peut peuvent plus pour pourquoi qu quand que quel quelle quelles quelque quelques quels
    qui quoi s sa sans se selon sera ses si sien soit son sont sous sur t ta tandis te tel telle tes toi ton tous tout
    toute toutes tres tu un une vers voici voila vos votre vous y`),
  de: words(`ab aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei
    beim bereits bin bis bist da dabei dadurch damit dann darauf das dass dein deine dem den denn der des dessen die
    dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch euer fur
    gegen hat hatte hatten haben hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist jede jedem
    jeden jeder jedes jedoch jene kann kein keine keinem keinen keiner konnen machen man mehr mein meine mich mir mit
    muss mussen nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so
    soll sollen sollte sondern sonst uber um und uns unser unter viel vom von vor wann war waren warum was weil welche
    welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wir wird wirst wo wodurch womit worum
    wovon wozu wurde wurden zu zum zur zwar zwischen`),
  it: words(`a abbiamo ad agli ai al alcuni alla alle allo allora altra altre altri altro anche ancora avere aveva c che
    chi ci cio coi col come con contro cosa cosi cui d da dagli dai dal dalla dalle dallo degli dei del dell della delle
    dello dentro di dopo dove due durante e ecco ed era erano essere fa fare fino fra fu gia gli ha hai hanno ho i il in
    invece io l la le lei li lo loro lui ma me mentre mi mia mie mio molto ne negli nei nel nell nella nelle nello noi
    non nostra nostro o ogni oppure per perche percio piu poi pero prima proprio qual quale quali quando quanto quasi
    quel quella quelle quelli quello questa queste questi questo qui quindi sara se sei sempre senza si sia siamo sono
    sopra sotto sta stata stati stato su sua sue sugli sui sul sulla sulle suo tale tra tu tua tue tuo tutta tutte tutti
    tutto un una uno voi`),
  pt: words(`a ainda alem algum alguma alguns ante antes ao aos apenas apos aquela aquele aquilo as assim ate cada com
    como contra cuja cujo da das de dela dele deles depois desde dessa desse desta deste disso do dos durante e ela elas
    ele eles em embora enquanto entao entre era eram essa essas esse esses esta estao estar estas estava este estes eu
    foi foram ha isso isto ja la lhe lhes mais mas me mesma mesmo meu meus minha minhas muito muitos na nao nas nem nesse
    nesta neste no nos nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos perante
    pode podem pois por porque qual quais qualquer quando quanto que quem se seja sem sempre sendo ser seu seus si sido
    so sobre sua suas tambem te tem tempo tendo ter teve tinha toda todas todo todos tu tua tudo um uma umas uns voce
    voces vos`),
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}
