// SPDX-License-Identifier: GPL-3.0-or-later
// The command that makes a run again, out of the one that made it.

// options of 'orch run' and 'orch try' that are taken over, with their value
const KEPT = ['-s', '--set', '-p', '--profile', '--name', '--artifact', '--inputs', '--metrics-from', '--timeout', '--resources', '--repeat', '--executor'];
const FLAGS_KEPT = ['--env', '--oversubscribe', '--no-pin', '--no-watch', '--live', '--frozen'];
const VALUED = ['-x', '--sweep', '--search', '--trials', '--until', '--sampler', '--stop', '-j', '--jobs', '--gpus', '--part', '--budget', '--deadline',
  '--price', '--notify', '--remote', '--most-informative', '--require', '--db', '-C', '--format'];

/** A word as a shell takes it. */
export const word = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;

const valueText = (v) => typeof v === 'object' && v !== null ? JSON.stringify(v) : String(v);

/* Splits the words in front of '--' into options that are taken over, and words that are no options. */
function sorted(words, isSwept) {
  const options = [], plain = [];
  for (let i = 0; i < words.length; i++) {
    const [name, joined] = words[i].startsWith('--') && words[i].includes('=') ? [words[i].slice(0, words[i].indexOf('=')), true] : [words[i], false];
    const value = joined ? words[i].slice(name.length + 1) : words[i + 1];
    if (KEPT.includes(name)) {
      const set = name === '-s' || name === '--set';
      if (!(set && isSwept(value))) options.push(...(joined ? [words[i]] : [name, value]));
      if (!joined) i++;
    } else if (VALUED.includes(name)) {
      if (!joined) i++;
    } else if (FLAGS_KEPT.includes(name)) {
      options.push(name);
    } else if (!name.startsWith('-')) {
      plain.push(words[i]);
    }
  }
  return {options, plain};
}

/** The command, or null for a run that no command of orch made. run: the server's description. */
export function rerunCommand(run) {
  const argv = run.argv ?? [], at = argv.findIndex((w) => w === 'try' || w === 'run');
  if (at < 0) return null;
  const end = argv.indexOf('--', at), head = argv.slice(at + 1, end < 0 ? undefined : end), tail = end < 0 ? [] : argv.slice(end);
  const isTry = argv[at] === 'try', prefix = isTry ? '' : `${run.experiment}.`;
  const settings = Object.entries(run.setting ?? {});
  const {options, plain} = sorted(head, (text) => settings.some(([name]) => [name, `${run.experiment}.${name}`].includes(String(text).split('=')[0])));
  const set = settings.flatMap(([name, value]) => ['-s', `${prefix}${name}=${valueText(value)}`]);
  const what = isTry ? [] : [plain[0], run.experiment].filter(Boolean);
  return ['orch', argv[at], ...what, ...options, ...set, '--force', ...tail].map(word).join(' ');
}
