// SPDX-License-Identifier: GPL-2.0
// What a reader can do with the page: sort and filter its tables, point at its charts. Without it
// all is there, in the order in which it was written.
"use strict";

// Fewer rows need no filter.
const FILTERED_FROM = 6;

// A row whose first cell is empty belongs to the one above: both stay together.
function groupsOf(table) {
	const groups = [];
	for (const row of table.tBodies[0].rows) {
		if (row.cells[0].textContent.trim() || !groups.length)
			groups.push([row]);
		else
			groups.at(-1).push(row);
	}
	return groups;
}

const ABSENT = new Set(["", "n/a", "-", "none"]);

// The number that a cell begins with, if any: "1,234", "-3.1 ±0.2 †", "[-1.0, +2.0]", "< 0.001".
function numberIn(text) {
	const found = /^[[<~\s]*([-+]?[\d,]*\.?\d+(e[-+]?\d+)?)(?![\w])/i.exec(text);
	return found ? Number(found[1].replaceAll(",", "")) : NaN;
}

// By number where all cells have one, else as text; what is not available comes last.
function sorted(groups, column, direction) {
	const keyed = groups.map((group) => [group, group[0].cells[column].textContent.trim()]);
	const present = keyed.filter(([, text]) => !ABSENT.has(text));
	const absent = keyed.filter(([, text]) => ABSENT.has(text));
	const numbers = new Map(present.map(([, text]) => [text, numberIn(text)]));
	const numeric = present.every(([, text]) => !isNaN(numbers.get(text)));
	const collator = new Intl.Collator("en", { numeric: true });
	present.sort(([, one], [, other]) => direction * (numeric
		? numbers.get(one) - numbers.get(other)
		: collator.compare(one, other)));
	return [...present, ...absent].map(([group]) => group);
}

// A heading sorts its table: upwards, downwards, and then as it was.
function makeSortable(table) {
	const original = groupsOf(table);
	const headings = [...table.tHead.rows[0].cells];
	headings.forEach((heading, column) => {
		// Chromium does not repeat the headings on each printed page if they have a <button>.
		const button = document.createElement("span");
		button.setAttribute("role", "button");
		button.tabIndex = 0;
		button.append(...heading.childNodes);
		heading.append(button);
		button.addEventListener("keydown", (event) => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				button.click();
			}
		});
		button.addEventListener("click", () => {
			const next = { null: "ascending", ascending: "descending" }[heading.getAttribute("aria-sort")];
			for (const other of headings)
				other.removeAttribute("aria-sort");
			if (next)
				heading.setAttribute("aria-sort", next);
			const order = next
				? sorted(original, column, next === "ascending" ? 1 : -1)
				: original;
			table.tBodies[0].append(...order.flat());
		});
	});
}

// A row is shown if it has all the words.
function makeFilterable(table) {
	const groups = groupsOf(table).map((group) => {
		const cells = group.flatMap((row) => [...row.cells]);
		return [group, cells.map((cell) => cell.textContent).join(" ").toLowerCase()];
	});
	if (groups.length < FILTERED_FROM)
		return;
	const input = document.createElement("input");
	input.type = "search";
	input.placeholder = "show rows with these words";
	input.setAttribute("aria-label", "filter");
	const count = document.createElement("output");
	input.addEventListener("input", () => {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		let shown = 0;
		for (const [group, text] of groups) {
			const fits = words.every((word) => text.includes(word));
			shown += fits;
			for (const row of group)
				row.hidden = !fits;
		}
		count.value = words.length ? `${shown} of ${groups.length}` : "";
	});
	const line = document.createElement("div");
	line.className = "filter";
	line.append(input, count);
	table.parentElement.before(line);
}

// In the place of the browser's own, which come late and not on a touch screen.
function makeTooltips() {
	const tip = document.createElement("div");
	tip.id = "tip";
	tip.setAttribute("role", "tooltip");
	tip.hidden = true;
	document.body.append(tip);
	const told = new Map();
	for (const title of document.querySelectorAll(".mark > title")) {
		told.set(title.parentElement, title.textContent);
		title.remove();
	}
	let pointer = { clientX: -1, clientY: -1 };
	const hide = () => { tip.hidden = true; };
	const show = () => {
		const { clientX: x, clientY: y } = pointer;
		const text = told.get(document.elementFromPoint(x, y)?.closest(".mark"));
		tip.hidden = !text;
		if (!text)
			return;
		tip.textContent = text;
		// At an edge it would be narrower than it needs to be.
		tip.style.left = tip.style.top = "0";
		const { width, height } = tip.getBoundingClientRect();
		const left = Math.min(x + 14, innerWidth - width - 4);
		const top = y + 14 + height < innerHeight ? y + 14 : y - 14 - height;
		tip.style.left = `${Math.max(4, left)}px`;
		tip.style.top = `${Math.max(4, top)}px`;
	};
	for (const kind of ["pointermove", "pointerdown"]) {
		document.addEventListener(kind, (event) => {
			pointer = event;
			show();
		});
	}
	// What moves away under the pointer has nothing more to tell.
	document.addEventListener("scroll", show, true);
	document.documentElement.addEventListener("pointerleave", hide);
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			hide();
	});
}

// What a link leads to may be folded, or filtered out.
function showTarget() {
	const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	if (!target)
		return;
	for (let at = target; at; at = at.parentElement) {
		at.hidden = false;
		if (at.tagName === "DETAILS")
			at.open = true;
	}
	target.scrollIntoView({ block: "center" });
}

// Browsers that cannot unfold by style do it so.
function unfoldForPrint() {
	let opened = [];
	addEventListener("beforeprint", () => {
		opened = [...document.querySelectorAll("details:not([open])")];
		for (const one of opened)
			one.open = true;
	});
	addEventListener("afterprint", () => {
		for (const one of opened)
			one.open = false;
	});
}

for (const table of document.querySelectorAll("table")) {
	makeSortable(table);
	makeFilterable(table);
}
makeTooltips();
unfoldForPrint();
addEventListener("hashchange", showTarget);
showTarget();
