"""Sentences of the news corpus.

``{role}`` is the short mention of a member of the cast ("Kent"); ``{role.clear}`` introduces it
("Mayor Clare Kent", "the town of Kent", "Kent Textiles Ltd."); ``.full`` is the full name alone,
``.titled`` is "Mr Kent" or "Ms Kent". ``{few}`` and other such slots are filled from ``VALUES``;
``{day}``, ``{later}``, ``{before}``, ``{month}``, ``{after}``, ``{amount}``, ``{won}`` and ``{lost}``
have one value per document. ``[this|that]`` is a choice between texts. A story is a headline and a first
sentence, with ``//`` between them.
"""

from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


@dataclass(frozen=True)
class Role:
    """A part in a story.

    label (str): PER, LOC or ORG.
    markers (str): What makes a mention clear, separated by "|": titles before a person, a phrase
        before a place, the rest of an organisation's name. "ACRONYM:work" stands for
        a body of that kind with an acronym.
    text (str): Sentences that mention the role clearly, one per line.
    chance (float): How often the role is cast.
    """

    label: str
    markers: str
    text: str
    chance: float = 1.0

    @property
    def introductions(self) -> tuple[str, ...]:
        return _lines(self.text)


@dataclass(frozen=True)
class Neutral:
    """Sentences that do not tell the class of {x}, nor of {y} and {z}, which are of the same.

    single (dict): Classes, to the sentences used with each of them.
    """

    single: dict[str, tuple[str, ...]]
    pairs: tuple[str, ...]
    triples: tuple[str, ...]
    headlines: tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    roles: dict[str, Role]
    stories: tuple[str, ...]
    body: tuple[str, ...]
    asides: tuple[str, ...]  # neutral sentences of this topic, about {x} of any class
    neutral: Neutral


VALUES = {
    "few": _words("three four five six seven eight nine"),
    "digit": _words("0 1 2 3 4"),
    "minute": _words("12th 19th 27th 34th 41st 53rd 62nd 68th 74th 81st 89th"),
    "nth": _words("20th 25th 40th 50th 75th 100th"),
    "number": _words("12 14 18 21 24 30 35 40 45 60 75 80 90"),
    "thousand": _words("1,200 1,800 2,500 3,100 4,600 7,000 9,400 11,000 15,500 24,000"),
    "wind": _words("95 105 110 120 130 140"),
    "percent": _words("1.5 2 2.4 3 3.7 4 5 6.5 8 9 11 14"),
    "age": _words("44 47 52 56 61 63 67 70"),
    "old_age": _words("71 74 76 79 81 83 85 88 90 92"),
    "year": _words("1951 1956 1962 1967 1971 1974 1979 1983 1988 1992"),
}
DAYS = _words("Monday Tuesday Wednesday Thursday Friday")
MONTHS = _words(
    "January February March April May June July August September October November December"
)
DATES = _words("2 3 5 8 11 14 17 19 22 26 28")

TOWN = "the town of|the city of|the market town of|the port of|the village of|the old town of"
COMPANY = (
    "Textiles Ltd.|Holdings|Corp.|Foods|Logistics plc|Cement|Ceramics Ltd.|Timber Group|Packaging|"
    "Instruments Inc.|Shipping Co.|Motors|& Sons|Chemicals|Marine plc|Electronics"
)
CLUB = "Harriers|Corinthians|Olympic|Thistle|Wanderers|Rovers|Athletic"

NEWS = Neutral(
    single={
        "PER LOC ORG": _lines(
            """
            {x} has been through [a hard|a long|a difficult|an unusual] year.
            For {x}, it was [the second time in a month|a day to remember|nothing new].
            For {x}, it has been a week of mixed news.
            All eyes are now on {x}.
            Attention now turns to {x}.
            Much will depend on {x} [in the coming weeks|over the coming year|from now on].
            Nothing like it had happened to {x} before.
            A report last year [hardly|repeatedly] mentioned {x}.
            {x} was [not mentioned|named twice|hardly mentioned] in an earlier report.
            Last year it was {x} that made the headlines.
            There has been a lot of talk about {x} [lately|since {before}].
            What comes next for {x} is [unclear|an open question|anyone's guess].
            It is too early to say what this means for {x}.
            {x} may have to wait [until {after}|a little longer|another week].
            {x} is no stranger to [attention|controversy|long waits].
            Opinions about {x} [remain divided|differ widely].
            In the end {x} came out of it [well|better than expected|with some credit].
            Things look different for {x} [now|this year].
            Letters about {x} have filled the local paper.
            "{x} deserves better," one reader wrote.
            One question about {x} has not been answered.
            It could have been worse for {x}.
            {x} was again at the centre of [the debate|the discussion|events].
            Not everyone agrees about {x}.
            The outlook for {x} is [brighter|uncertain|mixed].
            {x} heard the news on {day} [morning|evening].
            A [long|short] article about {x} appeared in {before}.
            Support for {x} has [grown|fallen|held up] [since {before}|in recent weeks].
            Criticism of {x} has [grown|faded] in recent weeks.
            As for {x}, [the picture is mixed|little has changed|it is too early to judge].
            Whether {x} can do it again is another matter.
            Nobody doubts that {x} will [be back|cope|be heard of again].
            {x} came [first|second|third] in a survey of readers [last year|in {before}].
            There has not been much good news about {x} [of late|this year].
            One name came up more than once on {day}: {x}.
            The mood has changed, and {x} has noticed.
            "We have to think of {x} as well," one [reader|listener] wrote.
            It is a new start for {x}.
            This time {x} was better prepared.
            Once more {x} is in the news.
            A programme about {x} will be broadcast on {later}.
            Hopes for {x} are [high|modest].
            Even {x} was [taken by surprise|not prepared for so much attention].
            {x} is not the only one with reason to worry.
            Nobody had expected to hear so much about {x} [this year|so soon].
            The evening news on {day} began with {x}.
            More than one newspaper sent a reporter to {x} on {day}.
            Where this leaves {x} will be known in {after}.
            It is the second time since {before} that {x} has been in the news.
            Interest in {x} has never been greater, [one editor|a local paper] said.
            {x}'s year has been a difficult one.
            Few would envy {x}'s position.
            {x}'s name came up more than once on {day}.
            Not much was known about {x}'s plans.
            """
        ),
        "PER ORG": _lines(
            """
            {x} [declined|refused] to comment [on {day}|].
            {x} was not available for comment on {day}.
            According to {x}, [there is no cause for alarm|a decision will come soon|talks go on].
            According to {x}, the first signs were seen in {before}.
            A spokesman for {x} [said|confirmed] that [nothing had changed|more news would follow].
            A spokesman for {x} denied this.
            {x} said [the matter was closed|it was too early to judge|nothing had been decided].
            {x} has promised to [answer questions|explain everything] on {later}.
            {x} [welcomed|rejected] the suggestion.
            {x} has until {later} to reply.
            In a statement, {x} thanked [supporters|everyone involved].
            A letter from {x} arrived on {day}.
            {x} did not reply to [questions|a letter|messages].
            {x} would not say when.
            "We will look at this again," {x} said.
            {x} told a local radio station that the date was fixed.
            {x} explained the delay on {day}.
            {x} expects [an answer|more news] by {after}.
            Asked again on {day}, {x} gave no answer.
            Critics accuse {x} of moving too slowly.
            {x} disagrees.
            {x} has asked for more time.
            A friend of {x} said there was nothing to add.
            Talks with {x} will resume on {later}.
            """
        ),
        "LOC ORG": _lines(
            """
            {x} has [gained|lost] {number} jobs since {before}.
            The future of {x} is [safe|uncertain], for now.
            {x} spent {few} million pounds on [repairs|training|new buildings] last year.
            {x} was founded more than {number} years ago.
            {x} is [smaller|older|larger] than most people think.
            Investment in {x} has [doubled|fallen].
            Life at {x} goes on.
            {x} celebrates its centenary in {after}.
            Money for {x} will [run out|be available] in {after}.
            More than {thousand} people depend on {x}.
            Everyone in the region knows {x}.
            {x} will have to save {few} million pounds.
            The website of {x} could not be reached on {day}.
            """
        ),
    },
    pairs=_lines(
        """
        Readers wrote about {x} and {y} in equal numbers.
        Neither {x} nor {y} was mentioned in an earlier report.
        For {x} and {y}, it has been a long week.
        The evening news showed pictures of {x} and {y}.
        A programme about {x} and {y} will be broadcast on {later}.
        Reporters wanted to hear more about {x} or {y}.
        Interest in {x} and {y} has grown since {before}.
        """
    ),
    triples=_lines(
        """
        {x}, {y} and {z} were all in the news on {day}.
        Three names were heard again and again: {x}, {y} and {z}.
        Much has been written about {x}, {y} and {z} since {before}.
        It was a week to remember for {x}, {y} and {z}.
        Most readers have heard of {x}, {y} or {z}.
        """
    ),
    headlines=_lines(
        """
        [New|Fresh|Hard] Questions for {x}
        {x} Waits for [News|an Answer|a Decision]
        Hopes Rise for {x}
        {x} Back in the Spotlight
        All Eyes on {x}
        A [Quiet|Long|Good|Busy] Week for {x}
        {x} Faces [Long Wait|Test|Hard Choice]
        What Next for {x}?
        {x} Looks Ahead
        The Other Side of {x}
        Why {x} Matters
        """
    ),
)

PAST = Neutral(
    single={
        "PER LOC ORG": _lines(
            """
            It all began with {x}.
            Without {x}, the story would have been [very different|shorter].
            There was more to {x} than the headlines suggested.
            {x} was never quite forgotten.
            {x} had been through [hard times|good years and bad].
            For {x}, those were [good|hard|busy] years.
            Few wrote about {x} at the time.
            It was {x} that made the difference.
            {x} appears on almost every page of the diaries.
            By then {x} had changed.
            Letters from those years speak [often|fondly] of {x}.
            Later accounts of {x} differ.
            Memories of {x} remained [vivid|strong] to the end.
            A chapter in the memoirs is about {x}.
            Then came {x}.
            People still talk about {x} and that summer.
            A film about {x} was never finished.
            Ten years earlier nobody had heard of {x}.
            Much has been written about {x} since.
            {x} was in the news again in {year}.
            Not everyone agreed about {x}.
            Old photographs of {x} were found in {before}.
            {x} was chosen ahead of {few} others in {year}.
            The best stories were those about {x}.
            {x}'s part in the story is not forgotten.
            Few knew about {x}'s early years.
            """
        )
    },
    pairs=_lines(
        """
        {x} and {y} had a good deal in common.
        Neither {x} nor {y} was ever far away.
        Between {x} and {y}, there was not much to choose.
        For {x} and {y}, much was at stake.
        The letters speak of {x} and {y} in equal measure.
        """
    ),
    triples=_lines(
        """
        The list was short: {x}, {y} and {z}.
        Much has been said about {x}, {y} and {z}.
        The diaries mention {x}, {y} or {z} every day.
        """
    ),
    headlines=_lines(
        """
        Memories of {x}
        The Story of {x}
        The Other Side of {x}
        A Long Road to {x}
        When {x} Was Young
        Before {x}
        """
    ),
)

SPORT = Topic(
    roles={
        "home": Role(
            "ORG",
            CLUB,
            """
            {home.clear} has not lost a [home|league] match since {before}.
            Supporters of {home.clear} [sang|stayed in their seats] until the end.
            A crowd of {thousand} had come to see {home.clear}.
            """,
        ),
        "away": Role(
            "ORG",
            CLUB,
            """
            {away.clear} had travelled with only {few} substitutes.
            The result leaves {away.clear} {few} points behind the leaders.
            {away.clear} had won {few} of the last ten meetings.
            """,
        ),
        "third": Role(
            "ORG",
            CLUB,
            """
            {third.clear} stays [top|second] in the table.
            The next opponent will be {third.clear}, away, on {later}.
            {third.clear} plays the last match of the round on {later}.
            """,
            0.7,
        ),
        "fourth": Role(
            "ORG",
            CLUB,
            """
            {fourth.clear} must now fear relegation.
            In the reserve league {fourth.clear} leads by {few} points.
            """,
            0.3,
        ),
        "striker": Role(
            "PER",
            "striker|captain|midfielder|winger|forward",
            """
            {striker.clear} had [hit the post|been booked] in the {minute} minute.
            The [best|loudest] moment of the afternoon belonged to {striker.clear}.
            It was {striker.clear} who made the difference.
            """,
        ),
        "coach": Role(
            "PER",
            "manager|head coach|coach|assistant coach",
            """
            {coach.clear} had made {few} changes to the side.
            Afterwards {coach.clear} [praised the defence|spoke of a fair result].
            It was the {nth} match in charge for {coach.clear}.
            """,
            0.7,
        ),
        "town": Role(
            "LOC",
            TOWN,
            """
            The next training camp is in {town.clear}.
            The team had spent the week in {town.clear}.
            Many of the supporters come from {town.clear}.
            """,
            0.35,
        ),
    },
    stories=_lines(
        """
        {home} Too Strong for {away} // {home.clear} beat {away.clear} {won}-{lost} on {day}.
        {home} Beats {away} // {away.clear} lost {won}-{lost} at {home.clear} on {day}.
        {striker} Sinks {away} // {striker.clear} scored as {home.clear} beat {away.clear} on {day}.
        Late Goal Lifts {home} // A late goal by {striker.clear} gave {home.clear} a win on {day}.
        {away} Stumbles Again // {away.clear} lost again on {day}, this time to {home.clear}.
        {home} Moves Up // {home.clear} moved up the table on {day} with a win over {away.clear}.
        {striker} the Difference // {striker.clear} had the last word for {home.clear} on {day}.
        No Way Past {home} // {away.clear} found no way past {home.clear} on {day}.
        """
    ),
    body=_lines(
        """
        Final score: {home} {won}, {away} {lost}.
        At half-time it was {home} 0 {away} 0.
        Results on {day}: {home} {won} {away} {lost}.
        In the other match it was {third} {digit} {fourth} {digit}.
        Elsewhere: {third} {digit} {fourth} {digit}.
        A first shot by {striker} from twenty metres went just wide.
        {striker} left the pitch to applause in the {minute} minute.
        In the second half {away} [pressed|attacked] without much luck.
        After the break {home} defended with ten men.
        {home}'s defence held firm.
        {away}'s best chance came too late.
        {coach} sent on {few} young players.
        "We were not brave enough before the break," {coach} said.
        "I just hit it and waited," {striker} said.
        The points went to {home}, the sympathy to {away}.
        {home} is now unbeaten in {few} matches.
        {home}, {third} and {fourth} are level on points.
        {third} is safe, and so is {home}.
        Either {third} or {home} will be promoted.
        The referee stopped play for {few} minutes because of [fog|rain|crowd trouble].
        Ticket sales had been slow because of the [cold|rail strike|early start].
        With this, {away} drops to [ninth|tenth|eleventh] place.
        {striker} had trained alone all week.
        {coach} and {striker} embraced at the end.
        Young supporters waited at the gate for an hour.
        The league committee meets on {later}.
        """
    ),
    asides=_lines(
        """
        The loudest cheers were for {x}.
        There had been doubts about {x} before the match.
        Local radio spoke of little else but {x} all week.
        The banners in the stands were all about {x}.
        It was a long afternoon for {x}.
        No one in the press room wanted to talk about {x}.
        On the way home the talk was of {x}.
        {x} will remember this afternoon for some time.
        A season ago {x} was hardly noticed.
        The photographers [turned to|waited for] {x}.
        """
    ),
    neutral=NEWS,
)

BUSINESS = Topic(
    roles={
        "firm": Role(
            "ORG",
            COMPANY,
            """
            {firm.clear} employs {thousand} people at {few} sites.
            Shares in {firm.clear} closed {percent} per cent [higher|lower].
            Last year {firm.clear} made a profit of {number} million pounds.
            """,
        ),
        "rival": Role(
            "ORG",
            COMPANY,
            """
            Its main competitor, {rival.clear}, reports next week.
            {rival.clear} has a similar product on the market.
            Shares in {rival.clear} were hardly changed.
            """,
            0.8,
        ),
        "boss": Role(
            "PER",
            "chief executive|chairman|finance director|managing director",
            """
            {boss.clear} joined the company {few} years ago.
            The board has full confidence in {boss.clear}, the company said.
            {boss.clear} presented the figures [to investors|in person].
            """,
        ),
        "analyst": Role(
            "PER",
            "analyst|economist|fund manager|broker",
            """
            {analyst.clear} called the plan "ambitious but fair".
            The market had expected something else, said {analyst.clear}.
            {analyst.clear} sees {few} reasons for the change.
            """,
            0.5,
        ),
        "town": Role(
            "LOC",
            TOWN,
            """
            The main plant in {town.clear} is not affected.
            A new warehouse will be built in {town.clear} by {after}.
            The head office in {town.clear} will be sold.
            """,
            0.6,
        ),
        "union": Role(
            "ORG",
            "ACRONYM:work",
            """
            The {union.clear} called the announcement [a surprise|no surprise].
            Members of the {union.clear} will vote on {later}.
            """,
            0.3,
        ),
    },
    stories=_lines(
        """
        {firm} Slides // Shares in {firm.clear} fell {percent} per cent on {day} on weak sales.
        {firm} to Cut {amount} Jobs // {firm.clear} said on {day} that it would cut {amount} jobs.
        {boss} to Go in {after} // {boss.clear} will leave {firm.clear} in {after}.
        {firm} and {rival} in Talks // {firm.clear} and {rival.clear} are in merger talks.
        {firm} Buys Stake // {firm.clear} said on {day} that it had bought a stake in {rival.clear}.
        {firm} Sales Rise // Sales at {firm.clear} rose {percent} per cent in the last quarter.
        {boss} Under Pressure // {boss.clear} faced angry shareholders of {firm.clear} on {day}.
        {rival} Walks Away // {rival.clear} will not bid for {firm.clear}, it said on {day}.
        """
    ),
    body=_lines(
        """
        {firm} had risen {percent} per cent in {before}.
        {rival} gained {percent} per cent.
        {firm}, {rival} and most of the sector ended the week higher.
        Trading in {firm} was halted for {few} minutes.
        {firm}'s largest customer is {rival}.
        {boss}'s contract runs until {after}.
        {boss} bought {thousand} shares in {before}.
        "We are not for sale," {boss} told [analysts|reporters].
        "The order book is full until {after}," {boss} said.
        {boss} started as a trainee in the packing department.
        {analyst} expects sales to grow by {percent} per cent.
        {analyst} advises investors to [wait|sell|be patient].
        At this price {firm} is worth {number} million pounds.
        A bid for {rival} is not planned this year.
        For {firm}, exports now make up {number} per cent of sales.
        A large contract went to {rival} in {before}.
        Costs have risen by {percent} per cent because of [fuel|steel|wages].
        The dividend stays at {few} pence a share.
        {union} has asked for a meeting with {boss}.
        The management wants to talk to {union} before {after}.
        Suppliers in {town} learned of it by letter.
        {town} gets a training centre in {after}.
        The annual meeting is in {after}.
        {boss} and {analyst} disagree about the outlook.
        Price rises are likely, the company said.
        Banks have extended their loans until {after}.
        """
    ),
    asides=_lines(
        """
        Investors have been nervous about {x} since {before}.
        Until now, analysts had paid little attention to {x}.
        The statement on {day} hardly mentioned {x}.
        The annual report devotes {few} pages to {x}.
        For {x}, the change could be expensive.
        There were {few} questions about {x} at the press conference.
        Few expect {x} to suffer for long.
        A lower pound would help {x}.
        {x} was the talk of the week among traders.
        Everything now hangs on {x}, one trader said.
        """
    ),
    neutral=NEWS,
)

COUNCIL = Topic(
    roles={
        "mayor": Role(
            "PER",
            "Mayor|Councillor|council leader|deputy mayor",
            """
            {mayor.clear} was elected {few} years ago.
            The proposal comes from {mayor.clear}, who wants it settled by {after}.
            In the end {mayor.clear} had the casting vote.
            """,
        ),
        "opponent": Role(
            "PER",
            "Councillor|opposition leader|committee member|former mayor",
            """
            {opponent.clear} called the plan a mistake.
            The loudest critic was {opponent.clear}.
            Among those who disagreed was {opponent.clear}.
            """,
            0.8,
        ),
        "resident": Role(
            "PER",
            "shop owner|head teacher|taxi driver|retired nurse|allotment holder",
            """
            {resident.clear} has collected {thousand} signatures.
            "Nobody asked us," said {resident.clear}, who lives nearby.
            For {resident.clear}, the change comes too late.
            """,
            0.4,
        ),
        "town": Role(
            "LOC",
            TOWN,
            """
            About {thousand} people live in {town.clear}.
            Traffic in {town.clear} has doubled in ten years.
            There has been no [swimming pool|theatre] in {town.clear} since {before}.
            """,
        ),
        "neighbour": Role(
            "LOC",
            "the neighbouring town of|the nearby village of|the city of|the district of",
            """
            A similar scheme in {neighbour.clear} [failed|was a success].
            In {neighbour.clear}, the same idea was dropped last year.
            The road to {neighbour.clear} will stay closed until {after}.
            """,
            0.6,
        ),
        "builder": Role(
            "ORG",
            COMPANY,
            """
            The work is to be done by {builder.clear}.
            {builder.clear} is to do the work for {amount} million pounds.
            The bid from {builder.clear} was the lowest of {few}.
            """,
            0.6,
        ),
    },
    stories=_lines(
        """
        {mayor} Wins Vote // {mayor.clear} won a vote on the new [bridge|library] on {day}.
        {town} Gets School // A school is to be built in {town.clear}, it was decided on {day}.
        {mayor} and {opponent} Clash // {mayor.clear} and {opponent.clear} clashed over a bridge.
        Bus Plan Divides {town} // A plan for a bus station in {town.clear} was approved on {day}.
        {opponent} Wants Inquiry // {opponent.clear} asked for an inquiry on {day}.
        {town} Library to Move // The library in {town.clear} will move to a new building.
        {builder} Gets Contract // {builder.clear} will build the new hall in {town.clear}.
        {mayor} Defends Bridge // {mayor.clear} defended the bridge in {town.clear} on {day}.
        """
    ),
    body=_lines(
        """
        "The money is there and the plan is sound," {mayor} said.
        "We should have been told in {before}," {opponent} said.
        {mayor} and {opponent} have not spoken since {before}.
        {opponent}, {mayor} and {resident} once sat on the same committee.
        {resident} wrote to {mayor} in {before}.
        The vote in committee had been close.
        The work will take {few} months and cost {amount} million pounds.
        {builder} has promised to start before {after}.
        The council has worked with {builder} before.
        Most people in {town} get to work by car.
        {town} and {neighbour} share a fire station.
        Pupils from {neighbour} will come by bus.
        Either {neighbour} or {town} will lose its court.
        {mayor} put the cost at {amount} million pounds.
        {opponent} spoke of broken promises.
        {mayor}'s plan has {few} parts.
        {town}'s shops are worried about parking.
        There was applause when {resident} stood up.
        The next meeting is on {later} at 7.30 in the town hall.
        A traffic study will be published in {after}.
        Shops in {town} reported a quiet {before}.
        The public can see the plans until {after}.
        The budget leaves little room for mistakes by {builder} or anyone else.
        {mayor.titled} grew up there and went to the local school.
        Grant money from the state will cover a third of the cost.
        Young families in particular had asked for it.
        """
    ),
    asides=_lines(
        """
        The debate soon turned to {x}.
        Half of the questions were about {x}.
        The minutes of the meeting mention {x} twice.
        Posters [for|against] {x} hang in many windows.
        For {x}, it was the second vote in a month.
        A petition about {x} was handed in on {day}.
        There was laughter when {x} was mentioned.
        {x} will be on the agenda again on {later}.
        The local paper has taken the side of {x}.
        Nobody in the hall had a bad word for {x}.
        """
    ),
    neutral=NEWS,
)

COURTS = Topic(
    roles={
        "judge": Role(
            "PER",
            "Judge|magistrate|Judge",
            """
            {judge.clear} asked for quiet in the gallery.
            The case is being heard by {judge.clear}.
            {judge.clear} told the jury to ignore what they had read.
            """,
        ),
        "accused": Role(
            "PER",
            "accountant|former teacher|clerk|lorry driver|estate agent|former banker",
            """
            {accused.clear}, {age}, denies all {few} charges.
            In the dock, {accused.clear} listened without a word.
            {accused.clear}, {age}, was arrested in {before}.
            """,
        ),
        "lawyer": Role(
            "PER",
            "defence lawyer|prosecutor|solicitor|barrister",
            """
            {lawyer.clear} spoke for almost {few} hours.
            {lawyer.clear} asked for more time to read the files.
            The accounts were hard to follow, said {lawyer.clear}.
            """,
            0.6,
        ),
        "firm": Role(
            "ORG",
            COMPANY,
            """
            The money belonged to {firm.clear}.
            {firm.clear} discovered the loss in {before}.
            Documents from {firm.clear} filled {number} boxes.
            """,
            0.7,
        ),
        "town": Role(
            "LOC",
            TOWN,
            """
            The court heard of meetings at a hotel in {town.clear}.
            Police had searched {few} houses in {town.clear}.
            An office in {town.clear} had been searched in {before}.
            """,
            0.7,
        ),
    },
    stories=_lines(
        """
        {accused} Denies Fraud // {accused.clear} denied fraud in a court in {town.clear} on {day}.
        Millions Missing at {firm} // A court heard on {day} of missing millions at {firm.clear}.
        {judge} Halts Trial // {judge.clear} halted a trial on {day} after a juror fell ill.
        {accused} on Trial // {accused.clear} went on trial on {day}, accused of taking bribes.
        {lawyer} Attacks Evidence // {lawyer.clear} attacked the evidence against {accused.clear}.
        {accused} Blames Others // {accused.clear} told {judge.clear} that others were to blame.
        Jury Hears of {accused} // A jury heard on {day} how {accused.clear} moved the money.
        {firm} in Court // A trial over money missing from {firm.clear} began on {day}.
        """
    ),
    body=_lines(
        """
        "I trusted the wrong people," {accused} told the court.
        {judge} warned {accused} to answer the question.
        {accused} and {lawyer} left by a side door.
        {lawyer} put it to {accused} that the letter was false.
        "There is no proof of any kind," {lawyer} said.
        The hearing was interrupted for {few} hours.
        The trial is expected to last {few} weeks.
        A witness remembered {accused} from a conference.
        A payment from {firm} was found in a second account.
        {firm} had changed its auditors {few} times.
        Emails between {accused} and {firm} were read out.
        {judge} allowed the evidence.
        {accused}'s diary was read out.
        {judge}'s questions were short.
        {judge}, {lawyer} and {accused} met in private for an hour.
        A flat in {town} was sold in {before}.
        Police in {town} found the car {few} days later.
        An earlier case against {firm} was dropped.
        The case against {accused} rests on {few} telephone calls.
        {accused} is free on bail of {thousand} pounds.
        {judge} will decide on {later}.
        A verdict is likely before the end of {after}.
        {lawyer} plans to call {few} more witnesses.
        Reading the charges took almost an hour.
        Mobile phones had to be switched off.
        """
    ),
    asides=_lines(
        """
        One of the witnesses had never heard of {x}.
        Outside the court, the talk was of {x}.
        Much of the morning was spent on {x}.
        In the afternoon {x} came up again.
        The name of {x} was read out twice.
        For {x}, a long wait lies ahead.
        One newspaper printed a long article about {x}.
        {x} was the subject of a long argument.
        The newspapers have written about {x} for weeks.
        Questions about {x} were put off until {later}.
        """
    ),
    neutral=NEWS,
)

WEATHER = Topic(
    roles={
        "town": Role(
            "LOC",
            TOWN,
            """
            In {town.clear}, {number} millimetres of rain fell in an hour.
            Trees blocked the main road in {town.clear}.
            Some {thousand} homes in {town.clear} were without power overnight.
            """,
        ),
        "second": Role(
            "LOC",
            "the port of|the coastal town of|the village of|the resort of",
            """
            Boats stayed in harbour in {second.clear}.
            The water rose to the doorsteps in {second.clear}.
            A roof was blown off in {second.clear}.
            """,
        ),
        "third": Role(
            "LOC",
            "the hill town of|the village of|the city of|the district of",
            """
            Schools in {third.clear} will open late on {later}.
            Little damage was reported from {third.clear}.
            Hail fell in {third.clear} for {few} minutes.
            """,
            0.7,
        ),
        "forecaster": Role(
            "PER",
            "forecaster|fire chief|meteorologist|farmer|harbour master",
            """
            Stay at home, was the advice of {forecaster.clear}.
            {forecaster.clear} spoke of the wettest {month} for {number} years.
            {forecaster.clear} had not slept for two nights.
            """,
        ),
        "bureau": Role(
            "ORG",
            "ACRONYM:weather",
            """
            The {bureau.clear} kept its warning in place until {later}.
            Maps from the {bureau.clear} show more rain on the way.
            """,
            0.45,
        ),
        "supplier": Role(
            "ORG",
            "Water|Power|Energy plc|Gas|Railways|Ferries Ltd.",
            """
            {supplier.clear} sent out {number} repair teams.
            Engineers from {supplier.clear} worked through the night.
            {supplier.clear} asked customers to be patient.
            """,
            0.7,
        ),
    },
    stories=_lines(
        """
        Storm Leaves {town} in the Dark // A storm cut power to most of {town.clear} on {day}.
        {town} Cleans Up // Streets in {town.clear} were under water on {day} after heavy rain.
        {town} and {second} Flooded // Floods closed roads in {town.clear} and {second.clear}.
        {supplier} Back in Service // {supplier.clear} restored its service on {day} after a storm.
        Rain at Last, Says {forecaster} // After {few} dry weeks, rain fell in {town.clear}.
        More Rain, Says {forecaster} // {forecaster.clear} warned on {day} of more rain.
        {town} and {second} Cut Off // {town.clear} was cut off by floods on {day}.
        Wind Batters {second} // High winds damaged {number} houses in {second.clear} on {day}.
        """
    ),
    body=_lines(
        """
        Between {town} and {second} the railway line was under water.
        {town}, {second} and {third} were the worst hit.
        The road from {town} to {second} has reopened.
        Winds of {wind} kilometres an hour were measured [at sea|on the coast].
        "I have never seen the river so high," {forecaster} said.
        "It will get worse before it gets better," {forecaster} said.
        {forecaster} expects sunshine by {later}.
        {bureau} sees a risk of frost at night.
        {supplier} put the damage at {amount} million pounds.
        Complaints about {supplier} have doubled.
        {supplier} will check {few} of its stations.
        Volunteers filled {thousand} sandbags.
        {second}'s harbour stayed closed.
        {forecaster}'s telephone never stopped ringing.
        Farmers near {third} moved their sheep to higher ground.
        The lifeboat from {second} was called out {few} times.
        No one was hurt.
        Trains will run again on {later}.
        Ferries between {second} and {third} are cancelled until {later}.
        {third} or {second} could be next.
        The night was calm, and {forecaster} went home at last.
        Insurance firms expect claims from {thousand} households.
        The last storm of this kind was in {year}.
        Nice weather is expected for the weekend.
        Wells and rivers in the region are full.
        """
    ),
    asides=_lines(
        """
        This time {x} was better prepared.
        Television pictures on {day} showed {x}.
        For {x}, it was the longest night of the year.
        The storm caught {x} by surprise.
        Help for {x} came from all sides.
        There were {few} calls about {x} during the night.
        {x} has lived through worse storms.
        {x} was thanked for staying calm.
        Messages to {x} came from all over the country.
        The wind did not spare {x}.
        """
    ),
    neutral=NEWS,
)

CULTURE = Topic(
    roles={
        "artist": Role(
            "PER",
            "singer|pianist|composer|cellist|songwriter|violinist",
            """
            {artist.clear} has been working on it for {few} years.
            It was a special evening for {artist.clear}.
            {artist.clear}, {age}, rarely gives interviews.
            """,
        ),
        "director": Role(
            "PER",
            "director|conductor|critic|producer|choir master",
            """
            {director.clear} chose the programme with care.
            The idea came from {director.clear}.
            {director.clear} spoke of a new beginning.
            """,
            0.7,
        ),
        "company": Role(
            "ORG",
            "Opera|Music Theatre|Chamber Orchestra|Philharmonic|Symphony|Musical Society",
            """
            {company.clear} has {few} more concerts this season.
            Tickets for {company.clear} cost from {number} pounds.
            {company.clear} has {number} members and one manager.
            """,
        ),
        "label": Role(
            "ORG",
            "Records|Music Ltd.|Studios|Audio|Editions",
            """
            {label.clear} has bought the rights.
            {label.clear} will publish the score.
            A recording will be released by {label.clear} in {after}.
            """,
            0.5,
        ),
        "town": Role(
            "LOC",
            TOWN,
            """
            The new concert hall in {town.clear} opens in {after}.
            A second evening is planned in {town.clear}.
            Many in the audience had come from {town.clear}.
            """,
            0.75,
        ),
    },
    stories=_lines(
        """
        {artist} Wins Prize // {artist.clear} won the main prize of {company.clear} on {day}.
        {company} Opens Season // {company.clear} opened its season on {day} with a new work.
        {artist} Returns // {artist.clear} returned to the stage in {town.clear} on {day}.
        {director} Moves to {company} // {director.clear} is to take over {company.clear}.
        {artist} on Tour // {artist.clear} began a tour of {few} cities on {day}.
        Roof Closes {company} // {company.clear} will close in {after} while its roof is repaired.
        Lost Song by {artist} Found // A lost song by {artist.clear} has been found in an attic.
        A Night to Remember for {company} // {company.clear} was cheered for {few} minutes on {day}.
        """
    ),
    body=_lines(
        """
        "I wanted it to sound like rain," {artist} said.
        "It took us {few} rehearsals to find the tone," {director} said.
        {artist} first performed at the age of {few}.
        {artist.titled} was born in {town}.
        {director} and {artist} have worked together for {few} years.
        {director} first heard {artist} at a school concert.
        {company} sold {thousand} tickets in a week.
        The orchestra of {company} was in fine form.
        {company} and {label} share the costs.
        For {label}, it is the biggest project of the year.
        {label} expects to sell {thousand} copies.
        The old hall in {town} was too small.
        {artist}'s new songs are slow and sad.
        {company}'s choir sang from memory.
        The second half is too long by [ten|fifteen|twenty] minutes.
        The lighting is plain, the costumes are splendid.
        The programme lists {few} new works.
        A film about {artist} is planned.
        An hour with {artist} is never dull, one listener said.
        {director} hopes to bring the programme to {town}.
        The series runs until {after}.
        Songs by {artist}, {director} and others were sung as an encore.
        There was a warm welcome for {company} from the critics.
        Rose petals covered the stage at the end.
        Reading music is not required of the choir.
        """
    ),
    asides=_lines(
        """
        The programme notes say little about {x}.
        Some of the applause was for {x}.
        The critics have been kind to {x} so far.
        For {x}, it was a late success.
        A small exhibition about {x} opens on {later}.
        The interval was full of talk about {x}.
        {x} has not always been so popular.
        There were flowers for {x} at the end.
        The evening owed a great deal to {x}.
        {x} was praised in [every|more than one] review.
        """
    ),
    neutral=NEWS,
)

SCIENCE = Topic(
    roles={
        "leader": Role(
            "PER",
            "Professor|Dr|biologist|geologist|Dr",
            """
            The team was led by {leader.clear}.
            {leader.clear} has studied the question for {few} years.
            {leader.clear} will present the results on {later}.
            """,
        ),
        "colleague": Role(
            "PER",
            "Professor|Dr|chemist|statistician|zoologist",
            """
            {colleague.clear} took part in the work from the start.
            The measurements were checked by {colleague.clear}.
            {colleague.clear} had reached the same result by another route.
            """,
            0.7,
        ),
        "laboratory": Role(
            "ORG",
            "Laboratories|Polytechnic|Biosciences|College of Science|Optics Ltd.|Genetics",
            """
            The samples were tested at {laboratory.clear}.
            {laboratory.clear} built the instrument.
            Students at {laboratory.clear} checked {thousand} photographs.
            """,
        ),
        "partner": Role(
            "ORG",
            "Instruments|Pharma|Imaging|Technologies|Data Systems Inc.",
            """
            The microscope was lent by {partner.clear}.
            {partner.clear} supplied the software free of charge.
            Part of the work was done by {partner.clear}.
            """,
            0.5,
        ),
        "funder": Role(
            "ORG",
            "ACRONYM:science",
            """
            The {funder.clear} paid for the study.
            A grant from the {funder.clear} runs out in {after}.
            """,
            0.3,
        ),
        "site": Role(
            "LOC",
            "the island of|the village of|the valley of|the town of|the bay of",
            """
            A walker had noticed something odd near {site.clear}.
            A second survey of {site.clear} is planned for {after}.
            Samples were taken close to {site.clear}.
            """,
            0.75,
        ),
    },
    stories=_lines(
        """
        {leader} Finds Beetle // {leader.clear} has found a beetle not seen since {year}.
        {laboratory} Maps Sea // {laboratory.clear} has mapped the sea floor near {site.clear}.
        Old Bones From {site} // Bones found near {site.clear} are older than thought.
        {leader} and {colleague} Win // {leader.clear} and {colleague.clear} won a prize on {day}.
        Bees Recover, Says {leader} // Bees are recovering, according to a study by {leader.clear}.
        {laboratory} Dates Tools // {laboratory.clear} said on {day} that stone tools were very old.
        New Light on {site} // Soil near {site.clear} holds a surprise, {laboratory.clear} says.
        {leader} Counts Birds // A count of sea birds by {leader.clear} brought a surprise.
        """
    ),
    body=_lines(
        """
        "We checked it {few} times because we did not believe it," {leader} said.
        "It is a small step, but a firm one," {colleague} said.
        {leader.titled} grew up on a farm.
        {leader} and {colleague} met as students.
        {colleague} counted every sample by hand.
        {colleague} had advised {leader} to repeat the test.
        The paper by {leader}, {colleague} and {few} others appeared on {day}.
        The data are kept at {laboratory} and can be used freely.
        {laboratory} and {partner} will continue the work.
        Neither {partner} nor {laboratory} expects a quick answer.
        {partner} hopes to sell the method by {after}.
        {laboratory} has received {few} million pounds.
        {funder} will decide about more money in {after}.
        Field work near {site} begins in {after}.
        Walkers at {site} are asked to report what they see.
        The sample was small, with only {number} finds.
        The effect was {percent} per cent larger than predicted.
        It took {few} winters to collect the data.
        One camera was out of use for {few} months.
        {leader} now wants to look at older samples.
        A model at {laboratory} gave the same answer.
        {leader}'s first article appeared {few} years ago.
        {laboratory}'s ship sails again in {after}.
        Grant applications must be sent in by {after}.
        """
    ),
    asides=_lines(
        """
        The paper mentions {x} in a footnote.
        A chapter of the report deals with {x}.
        For {x}, it is the second success in a year.
        The journal printed a picture of {x} on its cover.
        Schools have asked for a talk about {x}.
        Without {x}, the study would have been impossible.
        Interest in {x} has grown among researchers abroad.
        {x} is named first in the list of thanks.
        {x} was almost forgotten {few} years ago.
        Two other journals have printed articles about {x}.
        """
    ),
    neutral=NEWS,
)

OBITUARY = Topic(
    roles={
        "subject": Role(
            "PER",
            "architect|engineer|bridge builder|surveyor|designer|city planner",
            """
            {subject.clear} left school at fifteen.
            There was only one {subject.full}, a friend said.
            In truth {subject.clear} never retired.
            """,
        ),
        "friend": Role(
            "PER",
            "historian|former minister|photographer|pastor|lifelong friend|biographer",
            """
            {friend.clear} remembered a generous host.
            In {year} came the meeting with {friend.clear}.
            {friend.clear} will speak at the funeral.
            """,
            0.8,
        ),
        "firm": Role(
            "ORG",
            COMPANY,
            """
            The first job, at {firm.clear}, lasted {few} years.
            {firm.clear} was a small business then.
            A drawing made for {firm.clear} in {year} hangs in the museum.
            """,
            0.8,
        ),
        "birthplace": Role(
            "LOC",
            TOWN,
            """
            The family came from {birthplace.clear}.
            Childhood in {birthplace.clear} was hard but happy.
            The school in {birthplace.clear} was small.
            """,
        ),
        "other": Role(
            "LOC",
            "the city of|the port of|the island of|the suburb of",
            """
            In {year} the family moved to {other.clear}.
            A bridge in {other.clear} is the best known work.
            The summers were spent in {other.clear}.
            """,
            0.6,
        ),
    },
    stories=_lines(
        """
        {subject}, Builder of Bridges // {subject.clear} has died at {old_age}.
        {subject} Remembered // {subject.clear} died on {day} in {birthplace.clear}, aged {old_age}.
        Farewell to {subject} // The death of {subject.clear} at {old_age} was announced on {day}.
        From {firm} to the World // {subject.clear}, once a clerk at {firm.clear}, died on {day}.
        The Quiet Voice of {birthplace} // {subject.clear} of {birthplace.clear} died on {day}.
        {friend} on a Friendship // {friend.clear} paid tribute on {day} to {subject.clear}.
        Between {birthplace} and {other} // {subject.clear} has died aged {old_age}.
        """
    ),
    body=_lines(
        """
        {subject} was the youngest of {few} children.
        {subject} wrote {few} books and a great many letters.
        "You could not say no to {subject}," {friend} said.
        "We argued every day and never quarrelled," {friend} recalled.
        {friend} and {subject} had met on a train.
        {subject}, {friend} and a cousin opened a small workshop.
        After the war {firm} needed people.
        {firm} sent {subject} abroad in {year}.
        At {firm} they still use the old drawings.
        The years in {other} were the happiest.
        {birthplace} and {other} both claim the credit.
        A street in {birthplace} was named after the family.
        There was a first prize in {year}.
        Music and chess filled the evenings.
        The marriage lasted {number} years.
        {subject}'s letters fill {few} volumes.
        {firm}'s first office had one window.
        {subject} is survived by {few} grandchildren.
        {subject.titled} had little patience with fools and none with forms.
        A service will be held in {birthplace} on {later}.
        {subject} gave the prize money to a school in {other}.
        The garden was always open to children.
        Hope was a favourite word, friends said.
        """
    ),
    asides=_lines(
        """
        {x} is mentioned in the very first letter.
        A newspaper article from {year} was about {x}.
        A picture of {x} hangs in the town hall.
        The debt to {x} was never forgotten, many wrote.
        {x} was in the headlines for weeks in {year}.
        There is even a song about {x}.
        At the workshop the talk was often of {x}.
        The first book about {x} appeared in {year}.
        """
    ),
    neutral=PAST,
)

TRAVEL = Topic(
    roles={
        "place": Role(
            "LOC",
            "the town of|the old town of|the port of|the fishing village of|the spa town of",
            """
            The best time to see {place.clear} is [May|early summer|late autumn].
            Below the castle lies {place.clear}, a place of narrow lanes.
            There are {few} hotels in {place.clear}, and a long beach.
            """,
        ),
        "second": Role(
            "LOC",
            "the island of|the village of|the valley of|the city of|the market town of",
            """
            From there a road leads to {second.clear}.
            A bus goes to {second.clear} {few} times a day.
            {second.clear} is quieter, even in high summer.
            """,
        ),
        "third": Role(
            "LOC",
            "the spa of|the village of|the hill town of|the resort of",
            """
            A third stop is {third.clear}, {number} kilometres inland.
            Those with more time go on to {third.clear}.
            Most visitors miss {third.clear}.
            """,
            0.6,
        ),
        "carrier": Role(
            "ORG",
            "Airways|Ferries|Air|Coaches Ltd.|Lines|Cruises plc|Railways",
            """
            {carrier.clear} runs {few} services a day.
            Return tickets with {carrier.clear} start at {number} pounds.
            {carrier.clear} adds a night service in {after}.
            """,
        ),
        "host": Role(
            "PER",
            "hotel owner|mountain guide|chef|innkeeper|ranger|baker",
            """
            {host.clear} knows every path.
            Guests are met at the station by {host.clear}.
            At the harbour, ask for {host.clear}.
            """,
            0.8,
        ),
        "board": Role(
            "ORG",
            "ACRONYM:travel",
            """
            The {board.clear} counted {thousand} visitors in {before}.
            A free map is available from the {board.clear}.
            """,
            0.3,
        ),
    },
    stories=_lines(
        """
        A Weekend in {place} // Visitors are returning to {place.clear} after {few} quiet years.
        {carrier} Adds Route // {carrier.clear} will open a route to {place.clear} in {after}.
        {carrier} Drops Route // {carrier.clear} is to drop its winter service to {place.clear}.
        {place}, {second} and the Sea // It takes {few} hours to walk from {place.clear} to the sea.
        Dinner With {host} // {host.clear} opened a small restaurant in {place.clear} in {before}.
        {carrier} Back in {place} // {carrier.clear} returns to {place.clear} in {after}.
        Two Nights in {place} and {second} // Tourists have discovered {place.clear}.
        {carrier} Passengers Stranded // A strike stranded passengers of {carrier.clear} on {day}.
        """
    ),
    body=_lines(
        """
        "People come for a day and stay for a week," {host} said.
        "We never lock the door," {host} said.
        {host} bakes the bread at five in the morning.
        {host} opens the kitchen at noon.
        {place} and {second} are linked by a narrow road.
        Trains to {place} leave every {few} hours.
        The market in {second} is held once a month.
        {place}, {second} and {third} can be seen in {few} days.
        The walk to {third} is steep but short.
        Rooms in {place} cost from {number} pounds.
        {carrier} allows bicycles on board.
        {carrier} carried {thousand} passengers in {before}.
        Passengers with {carrier} should book early.
        The timetable is sold at every kiosk.
        {place}'s cafes open early.
        {host}'s boat leaves at nine.
        The fish soup alone is worth the journey.
        The museum is closed in winter.
        {board} wants fewer cars on the coast.
        Either {second} or {third} makes a good base.
        {host} has a story about every house.
        The view from {second} at sunset is hard to forget.
        The water is warm enough for swimming until late in the year.
        Nice beaches are found on the other side of the bay.
        Bath houses from the last century have been restored.
        """
    ),
    asides=_lines(
        """
        Guidebooks say little about {x}.
        A whole page of the guide is about {x}.
        Visitors speak warmly of {x}.
        Postcards of {x} are sold at the harbour.
        For {x}, the season has started well.
        There is a song about {x} that every child knows.
        {x} was once known far beyond the coast.
        {x} has won a prize for good service.
        Everyone on the boat knew {x}.
        A television film made {x} famous in {year}.
        """
    ),
    neutral=NEWS,
)

TOPICS = (SPORT, BUSINESS, COUNCIL, COURTS, WEATHER, CULTURE, SCIENCE, OBITUARY, TRAVEL)
