/** How people say things, and what the manuals call them. A rule fits where all of its words stand in the question, in any order; `|` parts other words for one, and a star any ending. What it means is added unless the question says it already. */

export interface EverydayWords {
  readonly said: string
  readonly means: string
}

export const EVERYDAY_WORDS: readonly EverydayWords[] = [
  // The screen
  { said: 'edge*|frame|surround* screen|picture|display', means: 'border' },
  { said: 'main|whole|behind screen|text', means: 'screen background' },
  { said: 'beam|scanline*|scan', means: 'raster line' },
  { said: 'drawing|drawn|current line', means: 'raster line' },
  { said: 'hires|resolution', means: 'bitmap mode' },
  { said: 'font|lettering|glyph*|shapes', means: 'character set' },
  { said: 'sideways', means: 'horizontal fine scroll' },
  { said: 'smooth* scroll*', means: 'fine scroll' },
  { said: 'blank*|hide|off screen|display', means: 'display enable' },
  { said: 'wipe|empty|erase screen', means: 'clear the screen' },
  { said: 'graphics|video bank|16k', means: 'VIC bank select' },
  { said: 'letters|text|print* colo*', means: 'current text colour' },
  // Sprites
  { said: 'mob|mobs', means: 'sprite' },
  { said: 'sprite* on|off|show|hide|visible|appear*', means: 'sprite enable' },
  { said: 'sprite* wide*|width|broad*', means: 'sprite horizontal doubling' },
  { said: 'sprite* tall*|high*|height', means: 'sprite vertical doubling' },
  { said: 'sprite* behind|front|pass', means: 'sprite to background priority' },
  { said: 'sprites touch*|hit*|bump*|overlap*|meet*', means: 'sprite to sprite collision' },
  { said: 'sprite wall*|scenery|background touch*|hit*|bump*', means: 'sprite to foreground collision' },
  { said: 'sprite* beyond|past|far|right 255*|256*|edge|pixel', means: 'most significant X position bit' },
  { said: 'sprite* shape|picture|image|look*|animate', means: 'sprite data pointers' },
  // Sound
  { said: 'loud*|quiet*', means: 'master volume' },
  { said: 'pitch|tone|note', means: 'voice frequency' },
  { said: 'fade*|rise* in', means: 'envelope attack' },
  { said: 'fade*|die* out|away', means: 'envelope release' },
  { said: 'first voice|channel', means: 'voice 1' },
  { said: 'second voice|channel', means: 'voice 2' },
  { said: 'third voice|channel', means: 'voice 3' },
  { said: 'sawtooth|triangle|square|pulse|noise', means: 'waveform select' },
  { said: 'muffle*|brightness|treble|bass', means: 'filter cutoff' },
  // Keys, sticks, time
  { said: 'stick|joypad|gamepad', means: 'joystick' },
  { said: 'joystick first|one', means: 'joystick 1, port B' },
  { said: 'joystick second|two', means: 'joystick 2, port A' },
  { said: 'key|keys pressed|presses|waiting|typed', means: 'keyboard queue' },
  { said: 'key|keys repeat*', means: 'key repeat mode' },
  { said: 'shift|control|commodore key held|down|pressed', means: 'modifier keys' },
  { said: 'stop|break key pressed', means: 'RUN/STOP key' },
  { said: 'elapsed|stopwatch|uptime', means: 'jiffy clock' },
  { said: 'wall clock|time', means: 'time of day clock' },
  { said: 'ntsc pal|which|machine', means: 'video standard' },
  { said: 'random', means: 'voice 3 oscillator random source, seed of RND' },
  // Files and devices
  { said: 'name file', means: 'SETNAM set the file name' },
  { said: 'disk|tape|drive load*|read*', means: 'LOAD routine' },
  { said: 'disk|tape|drive save*|write*', means: 'SAVE routine' },
  { said: 'close* all', means: 'CLALL' },
  { said: 'single|one character|letter|byte print*|output|write|show', means: 'write a byte to the output channel' },
  { said: 'character|letter|byte read*|get|fetch* keyboard|input', means: 'read a byte from the input channel' },
  { said: 'cursor place|put|move|row|column|position', means: 'PLOT cursor position' },
  { said: 'drive|disk|device number', means: 'current device number' },
  { said: 'modem|terminal|serial', means: 'RS-232' },
  // Memory and the system
  { said: 'reboot|restart', means: 'reset' },
  { said: 'interrupt* own|hook|custom|my', means: 'IRQ handler vector' },
  { said: 'interrupt* ignore|disable|forbid|block|mask|prevent', means: 'set interrupt disable flag' },
  { said: 'interrupt* allow|again|enable|permit', means: 'clear interrupt disable flag' },
  { said: 'ram under|below|beneath|instead|hidden', means: 'bank control LORAM HIRAM CHAREN' },
  { said: 'first page', means: 'zero page' },
  { said: 'unused|spare own|my|pointers', means: 'free for programs' },
  { said: 'basic program|listing start*|begin*', means: 'start of the BASIC program' },
  // Instructions
  { said: 'subroutine go|call|jump', means: 'call subroutine' },
  { said: 'subroutine back|leave|end', means: 'return from subroutine' },
  { said: 'add|plus|sum carry|numbers', means: 'add with carry' },
  { said: 'minus|subtract|difference numbers|carry|borrow', means: 'subtract with borrow' },
  { said: 'bits left', means: 'shift left' },
  { said: 'bits right', means: 'shift right' },
  { said: 'status|flags save|keep|remember stack', means: 'push status register' },
  { said: 'status|flags restore|back stack', means: 'pull status register' },
  { said: 'nothing|wait|delay instruction|cycles', means: 'no operation' },
]
