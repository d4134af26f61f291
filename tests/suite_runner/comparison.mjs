// Terms and bags of rows compared as CMP-1 to CMP-4 say, from the text of the rules alone.

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const PLACES = { decimal: 17n, double: 9n, float: 6n }; // a relative tolerance of 10 to the minus n
const INTEGER = /^(integer|long|int|short|byte|(non(Positive|Negative)|positive|negative)Integer|unsigned(Long|Int|Short|Byte))$/;
const DOUBLE = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const DATE_TIME = /^(-?\d{4,})(-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

function fraction(x) { // of a finite double, exactly
  let d = 1n;
  for (; !Number.isInteger(x); x *= 2) d *= 2n;
  return { n: BigInt(x), d };
}

function decimal(text) {
  const [, sign, whole, part = ''] = text.match(/^([+-]?)(\d*)\.?(\d*)$/);
  const n = BigInt(whole + part || 0);
  return { n: sign === '-' ? -n : n, d: 10n ** BigInt(part.length) };
}

// A term by its value: a number with its tolerance, or a text.
function value(term) {
  const as = `${term.type} ${term.value} ${term.datatype ?? ''} ${(term['xml:lang'] ?? '').toLowerCase()}`;
  if (term.type !== 'literal' || !term.datatype?.startsWith(XSD)) return { text: as };
  const [kind, text] = [term.datatype.slice(XSD.length), term.value];
  if (kind === 'string') return { text: `literal ${text}  ` };
  if (INTEGER.test(kind) && /^[+-]?\d+$/.test(text)) return { ...decimal(text), places: null };
  if (kind === 'decimal' && /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text)) return { ...decimal(text), places: PLACES.decimal };
  if (kind === 'double' || kind === 'float') {
    if (/^([+-]?INF|NaN)$/.test(text)) return { text: `number ${text.replace('+', '')}` };
    const x = kind === 'float' ? Math.fround(Number(text)) : Number(text);
    if (!DOUBLE.test(text)) return { text: as };
    return Number.isFinite(x) ? { ...fraction(x), places: PLACES[kind] } : { text: `number ${x < 0 ? '-' : ''}INF` };
  }
  if (kind === 'boolean' && /^(true|false|0|1)$/.test(text)) return { text: `boolean ${/^(true|1)$/.test(text)}` };
  const found = kind === 'dateTime' && text.match(DATE_TIME);
  if (!found) return { text: as };
  const [, year, rest, part = '', zone] = found;
  const wide = year.length === 4 ? year : (year[0] === '-' ? '-' : '+') + year.replace('-', '').padStart(6, '0');
  return { text: `dateTime ${Date.parse(wide + rest + (zone ?? 'Z'))} ${part.replace(/\.?0*$/, '')} ${zone !== undefined}` };
}

const absolute = (n) => (n < 0n ? -n : n);
const larger = (a, b) => (a > b ? a : b);

function sameTerm(a, b, mode, names) {
  if ((a.type === 'bnode') !== (b.type === 'bnode')) return false;
  if (a.type === 'bnode') { // one-to-one over the whole relation
    const [there, back] = [`> ${a.value}`, `< ${b.value}`];
    if (!names.has(there) && !names.has(back)) names.set(there, b.value).set(back, a.value);
    return names.get(there) === b.value && names.get(back) === a.value;
  }
  if (mode === 'term') return JSON.stringify(value({ ...a, datatype: `${a.datatype}` })) === JSON.stringify(value({ ...b, datatype: `${b.datatype}` }));
  const [x, y] = [value(a), value(b)];
  if (x.text !== undefined || y.text !== undefined) return x.text === y.text;
  const [left, right] = [x.n * y.d, y.n * x.d];
  if (left === right) return true;
  if (x.places === null || y.places === null) return false;
  const places = x.places < y.places ? x.places : y.places;
  const apart = absolute(left - right);
  if (apart * 10n ** places <= larger(absolute(left), absolute(right))) return true;
  return places === PLACES.decimal && apart * 10n ** 18n <= x.d * y.d;
}

function sameRow(a, b, mode, names) {
  const variables = Object.keys(a);
  return variables.length === Object.keys(b).length
    && variables.every((name) => name in b && sameTerm(a[name], b[name], mode, names));
}

// Whether some one-to-one matching pairs all rows as equal.
export function sameRows(expected, got, mode, names = new Map()) {
  if (expected.length !== got.length) return false;
  if (!expected.length) return true;
  const [first, ...others] = expected;
  return got.some((row, place) => {
    const renamed = new Map(names);
    return sameRow(first, row, mode, renamed) && sameRows(others, got.toSpliced(place, 1), mode, renamed);
  });
}
