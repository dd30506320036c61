// SPDX-License-Identifier: GPL-3.0-or-later
// Artifacts that are pictures. Those whose names differ in one number alone are one picture with a slider: "dots-10.png",
// "dots-20.png".
import {el, put} from './dom.js';

const STEPS_LEAST = 2;

/** The pictures by name with its last number taken out: [{name, steps: [{step, picture}]}], the steps rising. */
export function seriesOf(pictures) {
  const found = new Map();
  for (const picture of pictures) {
    const m = /^(.*?)(\d+)(\D*)$/.exec(picture.name.replace(/\.(png|jpe?g)$/i, ''));
    const name = m ? `${m[1]}#${m[3]}` : picture.name;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push({step: m ? Number(m[2]) : 0, picture});
  }
  return [...found].map(([name, steps]) => ({name: steps.length < STEPS_LEAST ? steps[0].picture.name : name.replace(/[-_. ]*#/, ''), steps: steps.sort((a, b) => a.step - b.step)}));
}

const figure = (picture, url) => el('figure', {}, el('a', {href: url(picture)}, el('img', {src: url(picture), alt: picture.name, loading: 'lazy'})), el('figcaption', {}, picture.name));

function bySlider(series, url) {
  const {steps} = series, last = steps.length - 1, place = el('div'), said = el('output');
  const input = el('input', {type: 'range', min: 0, max: last, step: 1, value: last, 'aria-label': `step of ${series.name}`, oninput: () => draw()});
  const image = el('img', {alt: ''}), opened = el('a', {}, image), caption = el('figcaption');
  put(place, el('figure', {class: 'steps', 'data-steps': steps.length}, opened, caption, el('label', {class: 'smooth'}, el('span', {}, 'step ', said), input)));
  function draw() {
    const {step, picture} = steps[Number(input.value)];
    image.src = opened.href = url(picture);
    image.alt = picture.name;
    caption.textContent = picture.name;
    said.textContent = `${step} (${Number(input.value) + 1} of ${steps.length})`;
    input.setAttribute('aria-valuetext', `step ${step}`);
  }
  draw();
  return place;
}

/** The pictures of a run. url(artifact): where it is. */
export function picturesOf(pictures, url) {
  if (!pictures.length) return null;
  return el('div', {class: 'pictures'}, seriesOf(pictures).map((s) => s.steps.length < STEPS_LEAST ? figure(s.steps[0].picture, url) : bySlider(s, url)));
}
